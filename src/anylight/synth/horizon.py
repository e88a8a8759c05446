"""The horizon of a depth map, seen from each of its pixels: compiled loops.

For a pixel, the directions of space that project to one line of the image form a half plane
through its viewing ray. In that plane everything under the steepest surface point along the line
is blocked. The surface counts as solid behind what the camera sees.
"""

import math

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}
NUM_HEADINGS = 96
_FINE_STEPS = 48.0
"""Steps are one pixel long up to here, then they grow with the distance."""
_GROWTH = 0.02


@numba.njit(inline="always", **_OPTIONS)
def _bilinear(image, u, v):
    """Interpolated value; NaN outside the image or when a needed pixel is."""
    height, width = image.shape
    if not (0.0 <= u <= width - 1.0 and 0.0 <= v <= height - 1.0):
        return math.nan
    column, row = min(int(u), width - 2), min(int(v), height - 2)
    a, b = u - column, v - row
    top = (1.0 - a) * image[row, column] + a * image[row, column + 1]
    bottom = (1.0 - a) * image[row + 1, column] + a * image[row + 1, column + 1]
    return (1.0 - b) * top + b * bottom


@numba.njit(inline="always", **_OPTIONS)
def _point(camera, u, v, depth):
    """Surface point behind a pixel; camera = (f_u, f_v, u_0, v_0), f = 0 for parallel rays."""
    fu, fv, u0, v0 = camera
    if fu == 0.0:
        return u - u0, v - v0, depth
    return (u - u0) / fu * depth, (v - v0) / fv * depth, depth


@numba.njit(inline="always", **_OPTIONS)
def _towards_camera(camera, u, v):
    """Unit vector from the surface to the camera."""
    fu, fv, u0, v0 = camera
    if fu == 0.0:
        return 0.0, 0.0, -1.0
    x, y = (u - u0) / fu, (v - v0) / fv
    length = math.sqrt(x * x + y * y + 1.0)
    return -x / length, -y / length, -1.0 / length


@loop(_OPTIONS, over="pixels", grain=16)
def _sines(begin, end, depth, camera, pixels, sines):
    """Sine of the horizon's elevation (towards the camera) per pixel and image heading."""
    longest = math.hypot(depth.shape[0], depth.shape[1])
    for j in range(begin, end):
        u, v = pixels[j, 0], pixels[j, 1]
        x, y, z = _point(camera, u, v, depth[int(v), int(u)])
        cx, cy, cz = _towards_camera(camera, u, v)
        for k in range(NUM_HEADINGS):
            angle = 2.0 * math.pi * k / NUM_HEADINGS
            du, dv = math.cos(angle), math.sin(angle)
            steepest = -1.0
            step = 1.0
            while step < longest:
                pu, pv = u + step * du, v + step * dv
                if not (0.0 <= pu <= depth.shape[1] - 1.0 and 0.0 <= pv <= depth.shape[0] - 1.0):
                    break
                there = _bilinear(depth, pu, pv)
                if not math.isnan(there):
                    px, py, pz = _point(camera, pu, pv, there)
                    ax, ay, az = px - x, py - y, pz - z
                    up = ax * cx + ay * cy + az * cz
                    sine = up / math.sqrt(ax * ax + ay * ay + az * az)
                    steepest = max(steepest, sine)
                step += max(1.0, _GROWTH * (step - _FINE_STEPS))
            sines[j, k] = steepest


def horizon_sines(depth: np.ndarray, camera: tuple[float, ...], pixels: np.ndarray) -> np.ndarray:
    """Sine of the horizon's elevation (towards the camera) per pixel and image heading."""
    sines = np.full((len(pixels), NUM_HEADINGS), -1.0, np.float32)
    _sines(depth, camera, pixels, sines)
    return sines


@loop(_OPTIONS, over="pixels", grain=16)
def _is_under(begin, end, sines, camera, pixels, directions, blocked):
    """Whether light from each direction is blocked on its way to each pixel."""
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        u, v = pixels[j, 0], pixels[j, 1]
        cx, cy, cz = _towards_camera(camera, u, v)
        for k in range(len(directions)):
            x, y, z = directions[k, 0], directions[k, 1], directions[k, 2]
            hu, hv = x, y
            if fu != 0.0:
                hu, hv = fu * x - z * (u - u0), fv * y - z * (v - v0)
            turn = (math.atan2(hv, hu) / (2.0 * math.pi)) % 1.0 * NUM_HEADINGS
            first = int(turn) % NUM_HEADINGS
            share = turn - math.floor(turn)
            horizon = (1.0 - share) * sines[j, first]
            horizon += share * sines[j, (first + 1) % NUM_HEADINGS]
            blocked[j, k] = x * cx + y * cy + z * cz < horizon


def is_under_horizon(
    sines: np.ndarray, camera: tuple[float, ...], pixels: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """Whether light from each direction is blocked on its way to each pixel."""
    blocked = np.zeros((len(pixels), len(directions)), np.bool_)
    _is_under(sines, camera, pixels, directions, blocked)
    return blocked
