"""The slopes that explain every pixel best by itself: damped Newton steps, all in one pass."""

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

from .elimination import PASS, fit_tile, linearise_tile, shade_tile
from .facets import fill_normal, fill_turns, tilts
from .monomials import TILE, WORK

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
_STEEPEST = 1e6
"""Slopes beyond this, times the focal length, are nobody's."""
_EASED, _RAISED = 0.2, 10.0
"""What the damping is multiplied by after a step that helped, and after one that did not."""


# What follows is compiled as part of the loop that calls it.


@numba.njit(inline="always", **_OPTIONS)
def _step_tile(moving, first, size, start, focal, p, q, blocks, kept, is_first, own):
    """Slopes of a damped Newton step; where they are at first."""
    steepest = _STEEPEST / max(focal, 1.0)
    for j in range(size):
        i = moving[first + j]
        a, b = np.float64(p[i]), np.float64(q[i])
        if not is_first:
            gu, gv, damping = kept[0, i - start], kept[1, i - start], kept[2, i - start]
            uu = np.float64(blocks[0, i]) * (1.0 + damping) + 1e-20
            vv = np.float64(blocks[2, i]) * (1.0 + damping) + 1e-20
            uv = np.float64(blocks[1, i])
            det = max(uu * vv - uv * uv, 1e-30)
            da, db = (vv * gu - uv * gv) / det, (uu * gv - uv * gu) / det
            if abs(a - da) < steepest and abs(b - db) < steepest:
                a, b = a - da, b - db
        own[0, j], own[1, j] = a, b


@numba.njit(inline="always", **_OPTIONS)
def _turn_tile(moving, first, size, camera, pixels, own, turned, along):
    """Unit normals of slopes, their lengths, and how both slopes turn them."""
    p, q, length = own[0], own[1], own[2]
    for j in range(size):
        px, pz, qy, qz = tilts(camera, pixels, moving[first + j])
        fill_normal(px, pz, qy, qz, np.float64(p[j]), np.float64(q[j]), j, turned, length)
        fill_turns(px, pz, qy, qz, turned, length, j, along[0], along[1])


@numba.njit(inline="always", **_OPTIONS)
def _gather_tile(moving, first, size, numbers, scale, places, shot, bright, near):
    for j in range(size):
        i = moving[first + j]
        bright[j] = scale[i]
        for k in range(numbers.shape[1]):
            shot[j, k] = numbers[i, k]
        for k in range(len(places)):
            near[k, j] = places[k, i]


@loop(_OPTIONS, over="numbers", step=PASS, grain=1)
def face(
    begin, end, exponents, fields, places, light, camera, pixels, numbers, scale, channels, steps,
    damping, settled, p, q, unit, length, albedo, misfit, blocks,
):  # fmt: skip
    """Improve the slopes of every pixel, in place; what they then are fills the other arrays.

    Light is that of the monomials, (photos of all channels, K); photos are whole numbers times
    every pixel's scale; blocks are uu, uv, vv (3, P). The pixels of a pass that still move are
    gathered into tiles.

    Args:
        settled: relative decrease of its misfit below which a pixel takes no further step.
    """
    columns, here = len(light), np.int64(0)
    work = np.empty((WORK, TILE), np.float32)
    terms = np.empty((3, len(exponents), TILE), np.float32)
    shades = np.empty((3, columns, TILE), np.float32)
    unused = np.empty((columns, TILE), np.float32)
    shot, near = np.empty((TILE, columns), np.int16), np.empty((len(places), TILE), np.float32)
    turned, along = np.empty((3, TILE), np.float32), np.empty((2, 3, TILE), np.float32)
    own, paint = np.empty((5, TILE), np.float32), np.empty((TILE, channels), np.float32)
    bent, slope = np.empty((3, TILE), np.float32), np.empty((2, TILE), np.float32)
    ones, kept = np.empty((1, TILE), np.float32)[0], np.empty((3, PASS), np.float32)
    moving, left_over, bright = np.empty((1, PASS), np.int64)[0], own[3], own[4]
    for j in range(TILE):
        ones[j] = 1
    for t in range(begin, end):
        start = t * PASS
        left = min(PASS, len(numbers) - start)
        for j in range(left):
            moving[j], kept[2, j] = start + j, damping
        for step in range(steps + 1):
            staying = 0
            for first in range(0, left, TILE):
                size = min(TILE, left - first)
                _step_tile(
                    moving, first, size, start, camera[0], p, q, blocks, kept, step == 0, own
                )
                _turn_tile(moving, first, size, camera, pixels, own, turned, along)
                _gather_tile(moving, first, size, numbers, scale, places, shot, bright, near)
                shade_tile(
                    exponents, turned, along, fields, near, light, here, size, work, terms, shades
                )
                fit_tile(shades[0], shot, bright, channels, here, size, work, paint, left_over)
                linearise_tile(
                    shot, bright, shades, ones, channels, paint, here, size, work, bent, slope,
                    unused,
                )  # fmt: skip
                for j in range(size):
                    i = moving[first + j]
                    better = step == 0 or left_over[j] < misfit[i]
                    stays = step == 0 or not better or left_over[j] < (1 - settled) * misfit[i]
                    if step > 0:
                        kept[2, i - start] *= _EASED if better else _RAISED
                    if better:
                        p[i], q[i] = own[0, j], own[1, j]
                        length[i], misfit[i] = own[2, j], left_over[j]
                        kept[0, i - start], kept[1, i - start] = slope[0, j], slope[1, j]
                        for k in range(3):
                            unit[k, i], blocks[k, i] = turned[k, j], bent[k, j]
                        for c in range(channels):
                            albedo[i, c] = paint[j, c]
                    if stays:
                        moving[staying] = i
                        staying += 1
            left = staying
