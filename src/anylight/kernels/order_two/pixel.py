r"""The physics of one observation, as plain functions of numbers.

They are compiled by whatever backend calls them. Shading of order two is a quadratic polynomial of
the unit normal with nine coefficients,
$a_0 + a_1 x + a_2 y + a_3 z + a_4 xy + a_5 xz + a_6 yz + a_7 (x^2 - y^2) + a_8 z^2$,
nested so that as many multiplications do.
"""
# mypy: disable-error-code="no-untyped-def"


def shade(a, k, x, y, z):
    """Shading for the coefficients in row k of a."""
    return (
        a[k, 0]
        + x * (a[k, 1] + a[k, 4] * y + a[k, 5] * z + a[k, 7] * x)
        + y * (a[k, 2] + a[k, 6] * z - a[k, 7] * y)
        + z * (a[k, 3] + a[k, 8] * z)
    )


def shade_slope(a1, a2, a3, a4, a5, a6, a7, a8, x, y, z):
    """Gradient of the shading by the normal."""
    gx = a1 + a4 * y + a5 * z + (a7 + a7) * x
    gy = a2 + a4 * x + a6 * z - (a7 + a7) * y
    gz = a3 + a5 * x + a6 * y + (a8 + a8) * z
    return gx, gy, gz


def shade_from_slope(a0, a1, a2, a3, gx, gy, gz, x, y, z, half):
    """Shading from its gradient: a quadratic is half its slope's, plus half its linear part's."""
    return a0 + half * ((a1 + gx) * x + (a2 + gy) * y + (a3 + gz) * z)


def cauchy_weight(r, inverse_square, one):
    """Weight φ'(r) / 2r of a residual under Cauchy's φ, with 1/λ² given."""
    return one / (one + r * r * inverse_square)
