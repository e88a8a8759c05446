"""Symmetric nine-point stencils on a padded grid, as compiled loops over rows.

A stencil is five arrays: centre d, and the couplings to the right e, down s, down-right se and
down-left sw; the other four follow by symmetry. All are zero outside the mask.

Rows are taken out first, and loops index them by numbers: compilers turn that into vector code, and
are done sooner than with slices.
"""

import numpy as np

from anylight.compiler import numba
from anylight.threads import ROWS, loop

_OPTIONS = {"fastmath": True, "cache": True, "error_model": "numpy", "boundscheck": False}


@numba.njit(inline="always", **_OPTIONS)
def _row(d, e, s, se, sw, i, x, y):
    """Compute y = row i of A x, without the margin columns."""
    own, below, above = x[i], x[i + 1], x[i - 1]
    di, ei, si, sei, swi = d[i], e[i], s[i], se[i], sw[i]
    s_above, se_above, sw_above = s[i - 1], se[i - 1], sw[i - 1]
    for k in range(1, x.shape[1] - 1):
        y[k] = (
            di[k] * own[k]
            + ei[k] * own[k + 1]
            + ei[k - 1] * own[k - 1]
            + si[k] * below[k]
            + s_above[k] * above[k]
            + sei[k] * below[k + 1]
            + se_above[k - 1] * above[k - 1]
            + swi[k] * below[k - 1]
            + sw_above[k + 1] * above[k + 1]
        )


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def _multiply(begin, end, d, e, s, se, sw, x, y, partial):
    """Compute y = A x, and x · y of every row."""
    for i in range(begin, end):
        yi, xi = y[i], x[i]
        _row(d, e, s, se, sw, i, x, yi)
        total = 0.0
        for k in range(1, x.shape[1] - 1):
            total += yi[k] * xi[k]
        partial[i] = total


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def _sweep(begin, end, d, e, s, se, sw, x, b, damped, out, steps):
    """Compute out = b − A x, or out = x + damped · (b − A x) if `steps`."""
    for i in range(begin, end):
        oi, bi, xi, ci = out[i], b[i], x[i], damped[i]
        _row(d, e, s, se, sw, i, x, oi)
        for k in range(1, x.shape[1] - 1):
            left = bi[k] - oi[k]
            oi[k] = xi[k] + ci[k] * left if steps else left


def residual(d, e, s, se, sw, x, b, r) -> None:
    """Compute r = b − A x."""
    _sweep(d, e, s, se, sw, x, b, x, r, False)


def relax(d, e, s, se, sw, x, b, damped, out) -> None:
    """Damped Jacobi: out = x + damped · (b − A x), damped = ω / d where d > 0."""
    _sweep(d, e, s, se, sw, x, b, damped, out, True)


@loop(_OPTIONS, over="coarse", margin=1, grain=ROWS)
def restrict(begin, end, r, coarse):
    """Compute coarse = Pᵀ r: coarse node I lies on fine node 2I − 1, its neighbours count half.

    r is zero in its margin, so what would lie beyond may be read there.
    """
    height, width = r.shape
    half, quarter = r.dtype.type(0.5), r.dtype.type(0.25)
    for big in range(begin, end):
        i = 2 * big - 1
        upper, own, lower = r[i - 1], r[i], r[i + 1 if i + 1 < height else 0]
        out = coarse[big]
        for j in range(1, coarse.shape[1] - 1):
            c = 2 * j - 1
            after = c + 1 if c + 1 < width else 0
            out[j] = (
                own[c]
                + half * (own[c - 1] + own[after] + upper[c] + lower[c])
                + quarter * (upper[c - 1] + upper[after] + lower[c - 1] + lower[after])
            )


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def prolong(begin, end, coarse, inside, x):
    """Add P coarse to x, on the active nodes (inside = 1) only."""
    width = x.shape[1]
    half, quarter = x.dtype.type(0.5), x.dtype.type(0.25)
    for i in range(begin, end):
        up, down, xi, ni = coarse[(i + 1) // 2], coarse[i // 2 + 1], x[i], inside[i]
        for j in range(1, (width - 1) // 2 + 1):
            xi[2 * j - 1] += ni[2 * j - 1] * half * (up[j] + down[j])
        for j in range(1, (width - 2) // 2 + 1):
            xi[2 * j] += ni[2 * j] * quarter * (up[j] + down[j] + up[j + 1] + down[j + 1])


_swept, _restrict, _prolong = (part.compiled for part in (_sweep, restrict, prolong))
GRIDS = 10
"""Grids of a level in `cycle`: five of the operator, damped, inside, solution, spare, source."""


@numba.njit(**_OPTIONS)
def _grids(levels, place):
    height, width, first = place
    return levels[first : first + GRIDS * height * width].reshape((GRIDS, height, width))


@numba.njit(nogil=True, **_OPTIONS)
def cycle(levels, places, direct):
    """Run a V(1,1)-cycle over several levels that lie in one array, fine to coarse.

    Of every level `places` holds the numbers of rows and columns and where it begins. The coarsest
    is solved by multiplying with `direct`. The answer is in the spare grid of the first level, or
    in its solution if that is the coarsest too.
    """
    last, size = len(places) - 1, len(direct)
    one = np.int64(1)  # not 1, which is a type of its own: code compiled here serves others, too
    for step in range(2 * last + 1):
        k = step if step <= last else 2 * last - step
        height, width, first = places[k, 0], places[k, 1], places[k, 2]
        if k == last:
            for i in range(size):
                total, row = np.float32(0), direct[i]
                for j in range(size):
                    total += row[j] * levels[first + 9 * size + j]
                levels[first + 7 * size + i] = total
            continue
        g = _grids(levels, (height, width, first))
        below = _grids(levels, (places[k + 1, 0], places[k + 1, 1], places[k + 1, 2]))
        x, b, damped, out, is_up = g[7], g[9], g[5], g[8], step > last
        if is_up:
            _prolong(one, height - 1, below[7 if k + 1 == last else 8], g[6], x)
        else:
            for i in range(height):
                for j in range(width):
                    x[i, j] = damped[i, j] * b[i, j]
        _swept(one, height - 1, g[0], g[1], g[2], g[3], g[4], x, b, damped, out, is_up)
        if not is_up:
            _restrict(one, below.shape[1] - 1, out, below[9])


@loop(_OPTIONS, over="a", grain=ROWS)
def _dot(begin, end, a, b, partial):
    """Inner product of every row."""
    for i in range(begin, end):
        ai, bi = a[i], b[i]
        total = 0.0
        for k in range(a.shape[1]):
            total += ai[k] * bi[k]
        partial[i] = total


@loop(_OPTIONS, over="x", grain=ROWS)
def _advance(begin, end, alpha, p, ap, x, r, partial):
    """Advance x += α p and r −= α A p; r · r of every row."""
    for i in range(begin, end):
        xi, ri, pi, ai = x[i], r[i], p[i], ap[i]
        for k in range(x.shape[1]):
            xi[k] += alpha * pi[k]
        total = 0.0
        for k in range(x.shape[1]):
            ri[k] -= alpha * ai[k]
            total += ri[k] * ri[k]
        partial[i] = total


@loop(_OPTIONS, over="p", grain=ROWS)
def combine(begin, end, z, beta, p):
    """Compute p = z + β p."""
    for i in range(begin, end):
        zi, pi = z[i], p[i]
        for k in range(p.shape[1]):
            pi[k] = zi[k] + beta * pi[k]


@loop(_OPTIONS, over="out", grain=ROWS)
def add(begin, end, amounts, grids, out):
    """Add so much of every grid (n, h, w)."""
    for i in range(begin, end):
        row = out[i]
        for k in range(len(amounts)):
            amount, own = amounts[k], grids[k, i]
            for j in range(out.shape[1]):
                row[j] += amount * own[j]


@loop(_OPTIONS, over="d", grain=ROWS)
def coarsen_columns(begin, end, d, e, s, se, sw, coarse):
    """Galerkin product over columns: coarse column J lies on fine column c = 2J − 1.

    `coarse` holds the five arrays of the result, with two margin columns; the fine arrays have one
    more zero column on the right than their margin.
    """
    q, h = d.dtype.type(0.25), d.dtype.type(0.5)
    for i in range(begin, end):
        di, ei, si, sei, swi = d[i], e[i], s[i], se[i], sw[i]
        centre, right, down = coarse[0, i], coarse[1, i], coarse[2, i]
        down_right, down_left = coarse[3, i], coarse[4, i]
        for j in range(1, coarse.shape[2] - 1):
            c = 2 * j - 1
            centre[j] = di[c] + q * (di[c - 1] + di[c + 1]) + ei[c - 1] + ei[c]
            right[j] = q * di[c + 1] + h * (ei[c] + ei[c + 1])
            down[j] = (
                si[c]
                + q * (si[c - 1] + si[c + 1])
                + h * (sei[c - 1] + sei[c] + swi[c] + swi[c + 1])
            )
            down_right[j] = q * si[c + 1] + h * (sei[c] + sei[c + 1])
            down_left[j] = q * si[c - 1] + h * (swi[c] + swi[c - 1])


@loop(_OPTIONS, over="coarse", axis=1, margin=1, grain=ROWS)
def coarsen_rows(begin, end, d, e, s, se, sw, coarse):
    """The same over rows: coarse row I lies on fine row c = 2I − 1."""
    q, h = d.dtype.type(0.25), d.dtype.type(0.5)
    width = d.shape[1]
    for i in range(begin, end):
        c = 2 * i - 1
        for j in range(1, width - 1):
            coarse[0, i, j] = d[c, j] + q * (d[c - 1, j] + d[c + 1, j]) + s[c - 1, j] + s[c, j]
            coarse[1, i, j] = (
                e[c, j]
                + q * (e[c - 1, j] + e[c + 1, j])
                + h * (se[c - 1, j] + se[c, j] + sw[c - 1, j + 1] + sw[c, j + 1])
            )
            coarse[2, i, j] = q * d[c + 1, j] + h * (s[c, j] + s[c + 1, j])
            coarse[3, i, j] = q * e[c + 1, j] + h * (se[c, j] + se[c + 1, j])
            coarse[4, i, j] = q * e[c + 1, j - 1] + h * (sw[c, j] + sw[c + 1, j])


# Sums over rows are taken outside the parallel loops, so that they do not depend on threads.


def multiply(d, e, s, se, sw, x, y) -> float:
    """Compute y = A x; return x · y in float64."""
    partial = np.zeros(len(x))
    _multiply(d, e, s, se, sw, x, y, partial)
    return float(partial.sum())


def dot(a, b) -> float:
    """Inner product in float64."""
    partial = np.zeros(len(a))
    _dot(a, b, partial)
    return float(partial.sum())


def inner(a, b) -> float:
    """Inner product of arrays of one size, whatever their types."""
    return dot(a, b) if a.dtype == np.float32 else float(np.vdot(a, b))


def advance(alpha, p, ap, x, r) -> float:
    """Advance x += α p and r −= α A p; return r · r in float64."""
    partial = np.zeros(len(x))
    _advance(alpha, p, ap, x, r, partial)
    return float(partial.sum())
