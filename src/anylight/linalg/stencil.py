"""Symmetric nine-point stencils on a padded grid, as compiled loops over rows.

A stencil is five arrays: centre d, and the couplings to the right e, down s, down-right se and
down-left sw; the other four follow by symmetry. All are zero outside the mask.

Rows are cut into loops over few slices each: compilers turn those into vector code.
"""

import numpy as np

from anylight.compiler import numba
from anylight.threads import ROWS, loop

_OPTIONS = {"fastmath": True, "cache": True, "error_model": "numpy", "boundscheck": False}


@numba.njit(inline="always", **_OPTIONS)
def _row(d, e, s, se, sw, i, x, y):
    """Compute y = row i of A x, without the margin columns."""
    n = x.shape[1] - 1
    dd, ee, el = d[i, 1:n], e[i, 1:n], e[i, 0 : n - 1]
    xc, xr, xl = x[i, 1:n], x[i, 2 : n + 1], x[i, 0 : n - 1]
    for k in range(n - 1):
        y[k] = dd[k] * xc[k] + ee[k] * xr[k] + el[k] * xl[k]
    below, above, xd, xu = s[i, 1:n], s[i - 1, 1:n], x[i + 1, 1:n], x[i - 1, 1:n]
    for k in range(n - 1):
        y[k] += below[k] * xd[k] + above[k] * xu[k]
    below, above = se[i, 1:n], se[i - 1, 0 : n - 1]
    xd, xu = x[i + 1, 2 : n + 1], x[i - 1, 0 : n - 1]
    for k in range(n - 1):
        y[k] += below[k] * xd[k] + above[k] * xu[k]
    below, above = sw[i, 1:n], sw[i - 1, 2 : n + 1]
    xd, xu = x[i + 1, 0 : n - 1], x[i - 1, 2 : n + 1]
    for k in range(n - 1):
        y[k] += below[k] * xd[k] + above[k] * xu[k]


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def _multiply(begin, end, d, e, s, se, sw, x, y, partial):
    """Compute y = A x, and x · y of every row."""
    width = x.shape[1]
    for i in range(begin, end):
        yi, xi = y[i, 1 : width - 1], x[i, 1 : width - 1]
        _row(d, e, s, se, sw, i, x, yi)
        total = 0.0
        for k in range(width - 2):
            total += yi[k] * xi[k]
        partial[i] = total


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def residual(begin, end, d, e, s, se, sw, x, b, r):
    """Compute r = b − A x."""
    width = x.shape[1]
    for i in range(begin, end):
        ri, bi = r[i, 1 : width - 1], b[i, 1 : width - 1]
        _row(d, e, s, se, sw, i, x, ri)
        for k in range(width - 2):
            ri[k] = bi[k] - ri[k]


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def relax(begin, end, d, e, s, se, sw, x, b, damped, out):
    """Damped Jacobi: out = x + damped · (b − A x), damped = ω / d where d > 0."""
    width = x.shape[1]
    for i in range(begin, end):
        oi, bi, xi = out[i, 1 : width - 1], b[i, 1 : width - 1], x[i, 1 : width - 1]
        ci = damped[i, 1 : width - 1]
        _row(d, e, s, se, sw, i, x, oi)
        for k in range(width - 2):
            oi[k] = xi[k] + ci[k] * (bi[k] - oi[k])


@loop(_OPTIONS, over="coarse", margin=1, grain=ROWS)
def restrict(begin, end, r, coarse):
    """Compute coarse = Pᵀ r: coarse node I lies on fine node 2I − 1, its neighbours count half."""
    height, width = r.shape
    half = r.dtype.type(0.5)
    for big in range(begin, end):
        i = 2 * big - 1
        line = np.zeros(width + 2, r.dtype)
        own = r[i]
        if i < height:
            for k in range(width):
                line[k] = own[k]
        upper = r[i - 1]
        for k in range(width):
            line[k] += half * upper[k]
        if i + 1 < height:
            lower = r[i + 1]
            for k in range(width):
                line[k] += half * lower[k]
        out = coarse[big]
        for j in range(1, coarse.shape[1] - 1):
            c = 2 * j - 1
            out[j] = line[c] + half * (line[c - 1] + line[c + 1])


@loop(_OPTIONS, over="x", margin=1, grain=ROWS)
def prolong(begin, end, coarse, inside, x):
    """Add P coarse to x, on the active nodes (inside = 1) only."""
    width = x.shape[1]
    half = x.dtype.type(0.5)
    for i in range(begin, end):
        up, down = coarse[(i + 1) // 2], coarse[i // 2 + 1]
        line = np.zeros(coarse.shape[1], x.dtype)
        for j in range(line.size):
            line[j] = half * (up[j] + down[j])
        xi, ni = x[i], inside[i]
        for j in range((width - 1) // 2):
            k = 2 * j + 1
            xi[k] += ni[k] * line[j + 1]
        for j in range((width - 2) // 2):
            k = 2 * j + 2
            xi[k] += ni[k] * half * (line[j + 1] + line[j + 2])


_residual, _restrict, _prolong, _relax = (
    part.compiled for part in (residual, restrict, prolong, relax)
)
GRIDS = 10
"""Grids of a level in `cycle`: five of the operator, damped, inside, solution, spare, source."""


@numba.njit(**_OPTIONS)
def _grids(levels, offset, shape):
    size = GRIDS * shape[0] * shape[1]
    return levels[offset : offset + size].reshape((GRIDS, shape[0], shape[1]))


@numba.njit(nogil=True, **_OPTIONS)
def cycle(levels, shapes, direct):
    """Run a V(1,1)-cycle over several levels that lie in one array, fine to coarse.

    The coarsest is solved by multiplying with `direct`. The answer is in the spare grid of the
    first level, or in its solution if that is the coarsest too.
    """
    last, offset = len(shapes) - 1, 0
    for k in range(last):
        g = _grids(levels, offset, shapes[k])
        offset += g.size
        below = _grids(levels, offset, shapes[k + 1])
        for i in range(g.shape[1]):
            for j in range(g.shape[2]):
                g[7, i, j] = g[5, i, j] * g[9, i, j]
        _residual(1, g.shape[1] - 1, g[0], g[1], g[2], g[3], g[4], g[7], g[9], g[8])
        _restrict(1, below.shape[1] - 1, g[8], below[9])
    bottom = _grids(levels, offset, shapes[last])
    answer, asked = bottom[7].reshape(len(direct)), bottom[9].reshape(len(direct))
    for i in range(len(direct)):
        total = np.float32(0)
        for j in range(len(direct)):
            total += direct[i, j] * asked[j]
        answer[i] = total
    for k in range(last - 1, -1, -1):
        below = _grids(levels, offset, shapes[k + 1])
        offset -= GRIDS * shapes[k, 0] * shapes[k, 1]
        g = _grids(levels, offset, shapes[k])
        coarse = below[7] if k + 1 == last else below[8]
        _prolong(1, g.shape[1] - 1, coarse, g[6], g[7])
        _relax(1, g.shape[1] - 1, g[0], g[1], g[2], g[3], g[4], g[7], g[9], g[5], g[8])


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
        for j in range(1, coarse.shape[2] - 1):
            c = 2 * j - 1
            coarse[0, i, j] = d[i, c] + q * (d[i, c - 1] + d[i, c + 1]) + e[i, c - 1] + e[i, c]
            coarse[1, i, j] = q * d[i, c + 1] + h * (e[i, c] + e[i, c + 1])
            coarse[2, i, j] = (
                s[i, c]
                + q * (s[i, c - 1] + s[i, c + 1])
                + h * (se[i, c - 1] + se[i, c] + sw[i, c] + sw[i, c + 1])
            )
            coarse[3, i, j] = q * s[i, c + 1] + h * (se[i, c] + se[i, c + 1])
            coarse[4, i, j] = q * s[i, c - 1] + h * (sw[i, c] + sw[i, c - 1])


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
