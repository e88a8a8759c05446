"""Symmetric nine-point stencils on a padded grid, as compiled loops over rows.

A stencil is five arrays: centre d, and the couplings to the right e, down s, down-right se and
down-left sw; the other four follow by symmetry. All are zero outside the mask.

Rows are taken out first, and loops index them by numbers: compilers turn that into vector code, and
are done sooner than with slices.
"""

import numpy as np

from anylight.compiler import numba
from anylight.threads import HEAVY_ROWS, ROWS, loop

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


@loop(_OPTIONS, over="x", margin=1, grain=HEAVY_ROWS)
def _multiply(begin, end, d, e, s, se, sw, x, y, partial):
    """Compute y = A x, and x · y of every row."""
    for i in range(begin, end):
        yi, xi = y[i], x[i]
        _row(d, e, s, se, sw, i, x, yi)
        total = 0.0
        for k in range(1, x.shape[1] - 1):
            total += yi[k] * xi[k]
        partial[i] = total


@loop(_OPTIONS, over="x", margin=1, grain=HEAVY_ROWS)
def _sweep(begin, end, d, e, s, se, sw, x, b, damped, out, steps):
    """Compute out = b − A x on active nodes (damped > 0), or x + damped · (b − A x) if `steps`."""
    for i in range(begin, end):
        oi, bi, xi, ci = out[i], b[i], x[i], damped[i]
        _row(d, e, s, se, sw, i, x, oi)
        for k in range(1, x.shape[1] - 1):
            left = bi[k] - oi[k]
            oi[k] = xi[k] + ci[k] * left if steps else left if ci[k] > 0 else ci[k]


def residual(d, e, s, se, sw, x, b, damped, r) -> None:
    """Compute r = b − A x on active nodes (damped > 0), zero elsewhere."""
    _sweep(d, e, s, se, sw, x, b, damped, r, False)


def relax(d, e, s, se, sw, x, b, damped, out) -> None:
    """Damped Jacobi: out = x + damped · (b − A x), damped = ω / d where d > 0."""
    _sweep(d, e, s, se, sw, x, b, damped, out, True)


@loop(_OPTIONS, over="x", grain=ROWS)
def scale(begin, end, damped, b, x):
    """Jacobi's first step from nothing: x = damped · b."""
    for i in range(begin, end):
        xi, ci, bi = x[i], damped[i], b[i]
        for k in range(x.shape[1]):
            xi[k] = ci[k] * bi[k]


@loop(_OPTIONS, over="damped", margin=1, grain=HEAVY_ROWS)
def pace(begin, end, d, e, s, se, sw, least, damping, stable, damped):
    """What Jacobi's method multiplies with; zero where a node is not active (see `Multigrid`)."""
    one, none = damped.dtype.type(1), damped.dtype.type(0)
    for i in range(begin, end):
        for k in range(1, damped.shape[1] - 1):
            centre = d[i, k]
            size = abs(centre) + abs(e[i, k]) + abs(e[i, k - 1]) + abs(s[i, k]) + abs(s[i - 1, k])
            size += abs(se[i, k]) + abs(se[i - 1, k - 1]) + abs(sw[i, k]) + abs(sw[i - 1, k + 1])
            slowness = max(centre / damping, size / stable)
            damped[i, k] = one / slowness if centre > least else none


@numba.njit(inline="always", **_OPTIONS)
def _given(r, left, j, after):
    """What coarse column j gets from a row: its own node, and its shares of those beside it."""
    before = r[2 * j - 2]
    return r[2 * j - 1] + left[j] * r[after] + before - left[j - 1] * before


@loop(_OPTIONS, over="coarse", margin=1, grain=HEAVY_ROWS)
def restrict(begin, end, r, left, up, coarse):
    """Compute coarse = Pᵀ r: coarse node I lies on fine node 2I − 1.

    Nodes between two coarse ones give each its share (see `share_columns`, `share_rows`). None is
    in the margin, so what would lie beyond may be read there.
    """
    height, width = r.shape
    for big in range(begin, end):
        i = 2 * big - 1
        low = i + 1 if i + 1 < height else 0
        out, above, below = coarse[big], up[big - 1], up[big]
        for j in range(1, coarse.shape[1] - 1):
            after = 2 * j if 2 * j < width else 0
            upper = _given(r[i - 1], left[i - 1], j, after)
            lower = _given(r[low], left[low], j, after)
            own = _given(r[i], left[i], j, after)
            out[j] = own + below[j] * lower + upper - above[j] * upper


@loop(_OPTIONS, over="x", margin=1, grain=HEAVY_ROWS)
def prolong(begin, end, coarse, damped, left, up, x):
    """Add P coarse to x, on the active nodes (damped > 0) only."""
    width, none = x.shape[1], x.dtype.type(0)
    for i in range(begin, end):
        # In rows of coarse nodes both are the same, whatever the share.
        above, below, ui = coarse[(i + 1) // 2], coarse[i // 2 + 1], up[i // 2]
        xi, ci, li = x[i], damped[i], left[i]
        for j in range(1, (width - 1) // 2 + 1):
            own = below[j] + ui[j] * (above[j] - below[j])
            xi[2 * j - 1] += own if ci[2 * j - 1] > 0 else none
        for j in range(1, (width - 2) // 2 + 1):
            own = below[j] + ui[j] * (above[j] - below[j])
            after = below[j + 1] + ui[j + 1] * (above[j + 1] - below[j + 1])
            xi[2 * j] += after + li[j] * (own - after) if ci[2 * j] > 0 else none


_swept, _restrict, _prolong = (part.compiled for part in (_sweep, restrict, prolong))
GRIDS = 11
"""Grids of a level in `cycle`: five of the operator, damped, left, up, solution, spare, source;
left and up fill a part of theirs."""


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
                    total += row[j] * levels[first + 10 * size + j]
                levels[first + 8 * size + i] = total
            continue
        g = _grids(levels, (height, width, first))
        below = _grids(levels, (places[k + 1, 0], places[k + 1, 1], places[k + 1, 2]))
        x, b, damped, out, is_up = g[8], g[10], g[5], g[9], step > last
        if is_up:
            _prolong(one, height - 1, below[8 if k + 1 == last else 9], damped, g[6], g[7], x)
        else:
            for i in range(height):
                for j in range(width):
                    x[i, j] = damped[i, j] * b[i, j]
        _swept(one, height - 1, g[0], g[1], g[2], g[3], g[4], x, b, damped, out, is_up)
        if not is_up:
            _restrict(one, below.shape[1] - 1, out, g[6], g[7], below[10])


@loop(_OPTIONS, over="a", grain=ROWS)
def _dot(begin, end, a, b, partial):
    """Inner product of every row."""
    for i in range(begin, end):
        ai, bi = a[i], b[i]
        total = 0.0
        for k in range(a.shape[1]):
            total += ai[k] * bi[k]
        partial[i] = total


@loop(_OPTIONS, over="a", grain=ROWS)
def _dots(begin, end, a, grids, partial):
    """Inner products of every row with that of several grids (n, h, w)."""
    for i in range(begin, end):
        ai = a[i]
        for n in range(len(grids)):
            own, total = grids[n, i], 0.0
            for k in range(a.shape[1]):
                total += ai[k] * own[k]
            partial[i, n] = total


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
def alternate(begin, end, x, keep, out):
    """Compute out = keep · out ± x, with signs like the fields of a chess board."""
    for i in range(begin, end):
        row, own = out[i], x[i]
        sign = x.dtype.type(1 - 2 * (i % 2))
        for k in range(out.shape[1]):
            row[k] = keep * row[k] + sign * own[k]
            sign = -sign


@loop(_OPTIONS, over="out", grain=ROWS)
def add(begin, end, amounts, grids, out):
    """Add so much of every grid (n, h, w)."""
    for i in range(begin, end):
        row = out[i]
        for k in range(len(amounts)):
            amount, own = amounts[k], grids[k, i]
            for j in range(out.shape[1]):
                row[j] += amount * own[j]


@loop(_OPTIONS, over="left", margin=1, grain=HEAVY_ROWS)
def share_columns(begin, end, e, se, sw, left):
    """How much of a node between two coarse columns belongs to the left one: as it pulls more.

    Column J holds the shares of the nodes in column 2J, between coarse columns J and J + 1.
    """
    half, none = left.dtype.type(0.5), left.dtype.type(0)
    for i in range(begin, end):
        for big in range(1, e.shape[1] // 2):
            j = 2 * big
            here = max(-(se[i - 1, j - 1] + e[i, j - 1] + sw[i, j]), none)
            there = max(-(sw[i - 1, j + 1] + e[i, j] + se[i, j]), none)
            both = here + there
            left[i, big] = here / both if both > none else half


@loop(_OPTIONS, over="up", margin=1, grain=HEAVY_ROWS)
def share_rows(begin, end, s, se, sw, up):
    """The same for nodes between two coarse rows: how much belongs to the upper one."""
    half, none = up.dtype.type(0.5), up.dtype.type(0)
    for big in range(begin, min(end, len(s) // 2)):
        i = 2 * big
        for j in range(1, s.shape[1] - 1):
            here = max(-(se[i - 1, j - 1] + s[i - 1, j] + sw[i - 1, j + 1]), none)
            there = max(-(sw[i, j] + s[i, j] + se[i, j]), none)
            both = here + there
            up[big, j] = here / both if both > none else half


@loop(_OPTIONS, over="d", margin=1, grain=HEAVY_ROWS)
def coarsen_columns(begin, end, d, e, s, se, sw, left, coarse):
    """Galerkin product over columns: coarse column J lies on fine column c = 2J − 1.

    `coarse` holds the five arrays of the result, with two margin columns. Where the next fine
    column would lie beyond the margin, the first one is read, which is as empty.
    """
    one, width = d.dtype.type(1), d.shape[1]
    for i in range(begin, end):
        for j in range(1, coarse.shape[2] - 1):
            c = 2 * j - 1
            n = c + 1 if c + 1 < width else 0
            before, after, next_after = one - left[i, j - 1], left[i, j], one - left[i, j]
            # The same in the row below: shares of this column, and of its neighbours.
            lower_before, lower_after = one - left[i + 1, j - 1], left[i + 1, j]
            at_right, at_left = one - left[i + 1, j], left[i + 1, j - 1]
            coarse[0, i, j] = (
                d[i, c]
                + before * (before * d[i, c - 1] + 2 * e[i, c - 1])
                + after * (after * d[i, n] + 2 * e[i, c])
            )
            coarse[1, i, j] = after * next_after * d[i, n] + next_after * e[i, c] + after * e[i, n]
            coarse[2, i, j] = (
                s[i, c]
                + before * lower_before * s[i, c - 1]
                + after * lower_after * s[i, n]
                + before * se[i, c - 1]
                + lower_after * se[i, c]
                + lower_before * sw[i, c]
                + after * sw[i, n]
            )
            coarse[3, i, j] = after * at_right * s[i, n] + at_right * se[i, c] + after * se[i, n]
            coarse[4, i, j] = (
                before * at_left * s[i, c - 1] + at_left * sw[i, c] + before * sw[i, c - 1]
            )


@loop(_OPTIONS, over="coarse", axis=1, margin=1, grain=HEAVY_ROWS)
def coarsen_rows(begin, end, d, e, s, se, sw, up, coarse):
    """The same over rows: coarse row I lies on fine row c = 2I − 1."""
    one = d.dtype.type(1)
    height, width = d.shape
    for i in range(begin, end):
        c = 2 * i - 1
        n = c + 1 if c + 1 < height else 0
        for j in range(1, width - 1):
            before, after, next_after = one - up[i - 1, j], up[i, j], one - up[i, j]
            right_before, right_after = one - up[i - 1, j + 1], up[i, j + 1]
            at_right, at_left = one - up[i, j + 1], one - up[i, j - 1]
            coarse[0, i, j] = (
                d[c, j]
                + before * (before * d[c - 1, j] + 2 * s[c - 1, j])
                + after * (after * d[n, j] + 2 * s[c, j])
            )
            coarse[1, i, j] = (
                e[c, j]
                + before * right_before * e[c - 1, j]
                + after * right_after * e[n, j]
                + before * se[c - 1, j]
                + right_after * se[c, j]
                + right_before * sw[c - 1, j + 1]
                + after * sw[c, j + 1]
            )
            coarse[2, i, j] = after * next_after * d[n, j] + next_after * s[c, j] + after * s[n, j]
            coarse[3, i, j] = after * at_right * e[n, j] + at_right * se[c, j] + after * se[n, j]
            coarse[4, i, j] = after * at_left * e[n, j - 1] + at_left * sw[c, j] + after * sw[n, j]


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


def dots(a, grids) -> np.ndarray:
    """Inner products with several grids, in float64."""
    partial = np.zeros((len(a), len(grids)))
    _dots(a, grids, partial)
    return partial.sum(axis=0)


def inner(a, b) -> float:
    """Inner product of arrays of one size, whatever their types."""
    return dot(a, b) if a.dtype == np.float32 else float(np.vdot(a, b))


def advance(alpha, p, ap, x, r) -> float:
    """Advance x += α p and r −= α A p; return r · r in float64."""
    partial = np.zeros(len(x))
    _advance(alpha, p, ap, x, r, partial)
    return float(partial.sum())
