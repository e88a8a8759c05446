"""Per-pixel parts of the minimal-surface Newton method, compiled."""

import math

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
_NEARLY_ONE = 0.999


@loop(_OPTIONS, over="near", grain=4096)
def linearise(begin, end, z, near, dual, form, flux):
    """Blocks (I − (w gᵀ + g wᵀ)/2θ)/θ and flux g/θ of every pixel; θ = √(1 + |g|²), w the dual."""
    here, along_u, along_v, sign_u, sign_v = near
    for j in range(begin, end):
        value = z[here[j]]
        u = sign_u[j] * (z[along_u[j]] - value)
        v = sign_v[j] * (z[along_v[j]] - value)
        inverse = 1.0 / math.sqrt(1.0 + u * u + v * v)
        a, b = dual[0, j], dual[1, j]
        form[3, j] = inverse * (1.0 - a * u * inverse)
        form[4, j] = -0.5 * inverse * inverse * (a * v + b * u)
        form[5, j] = inverse * (1.0 - b * v * inverse)
        flux[1, j], flux[2, j] = u * inverse, v * inverse


@loop(_OPTIONS, over="near", grain=4096)
def advance_dual(begin, end, z, step, near, dual):
    """Newton step of the dual field w = g/θ, kept shorter than one."""
    here, along_u, along_v, sign_u, sign_v = near
    for j in range(begin, end):
        u = sign_u[j] * (z[along_u[j]] - z[here[j]])
        v = sign_v[j] * (z[along_v[j]] - z[here[j]])
        du = sign_u[j] * (step[along_u[j]] - step[here[j]])
        dv = sign_v[j] * (step[along_v[j]] - step[here[j]])
        inverse = 1.0 / math.sqrt(1.0 + u * u + v * v)
        change = (u * du + v * dv) * inverse * inverse
        a = (u + du) * inverse - dual[0, j] * change
        b = (v + dv) * inverse - dual[1, j] * change
        size = math.sqrt(a * a + b * b)
        shrink = _NEARLY_ONE / size if size > _NEARLY_ONE else 1.0
        dual[0, j], dual[1, j] = a * shrink, b * shrink
