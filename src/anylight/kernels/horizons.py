"""How high the surroundings of every pixel rise, heading by heading, and the derivatives of it.

A heading is a direction in the image; along it the surface is looked at after every one of the
`steps`. The horizon is the sample that rises highest over the plane through the pixel that faces
the camera. Offsets are the same for all pixels, so their bilinear weights are made once.
"""

import math

import numpy as np

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}
NOTHING = -1
"""Number of the sample where no heading's sample lies on the object."""
_LIMIT = 0.9999
"""Largest size of a horizon's sine."""


@numba.njit(inline="always", **_OPTIONS)
def _ray(camera, u, v):
    """Ray of unit depth; under parallel rays the place of the pixel instead."""
    fu, fv, u0, v0 = camera
    if fu > 0.0:
        return (u - u0) / fu, (v - v0) / fv
    return u - u0, v - v0


@numba.njit(inline="always", **_OPTIONS)
def _sample(depth, inside, row, column, offset):
    """Whether all four pixels around a sample are on the object, and the depth between them."""
    r, c = row + int(offset[0]), column + int(offset[1])
    if r < 0 or c < 0 or r + 1 >= depth.shape[0] or c + 1 >= depth.shape[1]:
        return False, np.float32(0)
    if not (inside[r, c] and inside[r, c + 1] and inside[r + 1, c] and inside[r + 1, c + 1]):
        return False, np.float32(0)
    b, a = offset[2], offset[3]
    upper = (1 - a) * depth[r, c] + a * depth[r, c + 1]
    lower = (1 - a) * depth[r + 1, c] + a * depth[r + 1, c + 1]
    return True, (1 - b) * upper + b * lower


@loop(_OPTIONS, over="pixels", grain=64)
def rise(begin, end, depth, inside, pixels, camera, offsets, sine, which):
    """Sine of the horizon's elevation, and the number of the sample that makes it.

    Args:
        depth: (H, W) image of depths, of any value outside the object.
        inside: (H, W), the object.
        pixels: (P, 2) row and column of every pixel.
        camera: (f_u, f_v, u_0, v_0); f = 0 stands for parallel rays.
        offsets: (headings, steps, 4): whole rows and columns, then the rest of both.
        sine: (P, headings), made here.
        which: (P, headings), made here; −1 where no sample lies on the object.
    """
    perspective = camera[0] > 0.0
    for j in range(begin, end):
        row, column = pixels[j, 0], pixels[j, 1]
        x, y = _ray(camera, column, row)
        own = depth[row, column]
        if perspective:
            size = math.sqrt(x * x + y * y + 1.0)
            tx, ty, tz = -x / size, -y / size, -1.0 / size
            px, py = x * own, y * own
        else:
            tx, ty, tz = 0.0, 0.0, -1.0
            px, py = x, y
        for k in range(offsets.shape[0]):
            best, found = -_LIMIT, NOTHING
            for i in range(offsets.shape[1]):
                offset = offsets[k, i]
                is_there, there = _sample(depth, inside, row, column, offset)
                if not is_there:
                    continue
                sx, sy = _ray(camera, column + offset[1] + offset[3], row + offset[0] + offset[2])
                if perspective:
                    sx, sy = sx * there, sy * there
                vx, vy, vz = sx - px, sy - py, there - own
                up = (vx * tx + vy * ty + vz * tz) / math.sqrt(vx * vx + vy * vy + vz * vz)
                if up > best:
                    best, found = up, i
            sine[j, k] = min(best, _LIMIT)
            which[j, k] = found


@loop(_OPTIONS, over="parts", grain=1)
def rise_adjoint(begin, end, depth, pixels, camera, offsets, which, by_sine, parts):
    """Add the derivative by every depth.

    Args:
        depth: as given to `rise`.
        pixels: as given to `rise`.
        camera: as given to `rise`.
        offsets: as given to `rise`.
        which: as `rise` found it.
        by_sine: (P, headings), the derivative by the sines.
        parts: (n, H, W), zeros; every part collects the derivatives of its share of the pixels.
    """
    perspective = camera[0] > 0.0
    num, total = len(parts), len(pixels)
    for part in range(begin, end):
        out = parts[part]
        for j in range(part * total // num, (part + 1) * total // num):
            row, column = pixels[j, 0], pixels[j, 1]
            x, y = _ray(camera, column, row)
            own = depth[row, column]
            if perspective:
                size = math.sqrt(x * x + y * y + 1.0)
                tx, ty, tz = -x / size, -y / size, -1.0 / size
                px, py = x * own, y * own
            else:
                tx, ty, tz = 0.0, 0.0, -1.0
                px, py = x, y
            for k in range(offsets.shape[0]):
                i, given = which[j, k], by_sine[j, k]
                if i < 0 or given == 0.0:
                    continue
                offset = offsets[k, i]
                r, c = row + int(offset[0]), column + int(offset[1])
                b, a = offset[2], offset[3]
                there = (1 - b) * ((1 - a) * depth[r, c] + a * depth[r, c + 1]) + b * (
                    (1 - a) * depth[r + 1, c] + a * depth[r + 1, c + 1]
                )
                rx, ry = _ray(camera, column + offset[1] + a, row + offset[0] + b)
                sx, sy = (rx * there, ry * there) if perspective else (rx, ry)
                vx, vy, vz = sx - px, sy - py, there - own
                far = math.sqrt(vx * vx + vy * vy + vz * vz)
                vx, vy, vz = vx / far, vy / far, vz / far
                up = vx * tx + vy * ty + vz * tz
                if abs(up) >= _LIMIT:
                    continue
                gx, gy, gz = (tx - up * vx) / far, (ty - up * vy) / far, (tz - up * vz) / far
                if perspective:
                    ahead, back = gx * rx + gy * ry + gz, gx * x + gy * y + gz
                else:
                    ahead, back = gz, gz
                out[row, column] -= given * back
                ahead *= given
                out[r, c] += ahead * (1 - b) * (1 - a)
                out[r, c + 1] += ahead * (1 - b) * a
                out[r + 1, c] += ahead * b * (1 - a)
                out[r + 1, c + 1] += ahead * b * a


@numba.njit(inline="always", **_OPTIONS)
def _along(camera, x, y, cosine, sine):
    """Unit vector of a heading across the ray, and the direction back to the camera."""
    fu, fv = camera[0], camera[1]
    if fu > 0.0:
        size = math.sqrt(x * x + y * y + 1.0)
        tx, ty, tz = -x / size, -y / size, -1.0 / size
        ex, ey = cosine / fu, sine / fv
    else:
        tx, ty, tz = 0.0, 0.0, -1.0
        ex, ey = cosine, sine
    on = ex * tx + ey * ty
    ex, ey, ez = ex - on * tx, ey - on * ty, -on * tz
    size = math.sqrt(ex * ex + ey * ey + ez * ez)
    return ex / size, ey / size, ez / size, tx, ty, tz


@loop(_OPTIONS, over="unit", grain=256)
def edges(begin, end, unit, pixels, camera, headings, sine, width, centre):
    """Elevation at which light is half hidden.

    Over an open surface light fades out below the own tangent plane, where it counts for nothing;
    over a horizon that rises above that plane by `width` or more, around the horizon.

    Args:
        unit: (P, 3) normals.
        pixels: as given to `rise`.
        camera: as given to `rise`.
        headings: (headings, 2) cosine and sine of every heading.
        sine: (P, headings) as `rise` made it.
        width: half the range of elevations over which light fades.
        centre: (P, headings), made here.
    """
    for j in range(begin, end):
        x, y = _ray(camera, pixels[j, 1], pixels[j, 0])
        for k in range(len(headings)):
            ex, ey, ez, tx, ty, tz = _along(camera, x, y, headings[k, 0], headings[k, 1])
            ahead = unit[j, 0] * ex + unit[j, 1] * ey + unit[j, 2] * ez
            up = unit[j, 0] * tx + unit[j, 1] * ty + unit[j, 2] * tz
            tangent = math.atan2(-ahead, up)
            over = math.asin(sine[j, k]) - tangent
            if over <= 0.0:
                centre[j, k] = tangent - width
            elif over < width:
                centre[j, k] = tangent - width + 2.0 * over
            else:
                centre[j, k] = tangent + over


@loop(_OPTIONS, over="unit", grain=256)
def edges_adjoint(
    begin, end, unit, pixels, camera, headings, sine, width, by_centre, by_sine, by_unit
):
    """Derivatives by the sines (made here) and by the normals (added).

    Args:
        unit: as given to `edges`.
        pixels: as given to `edges`.
        camera: as given to `edges`.
        headings: as given to `edges`.
        sine: as given to `edges`.
        width: as given to `edges`.
        by_centre: (P, headings), the derivative by what `edges` made.
        by_sine: (P, headings), made here.
        by_unit: (P, 3), added to.
    """
    for j in range(begin, end):
        x, y = _ray(camera, pixels[j, 1], pixels[j, 0])
        for k in range(len(headings)):
            given = by_centre[j, k]
            by_sine[j, k] = 0.0
            if given == 0.0:
                continue
            ex, ey, ez, tx, ty, tz = _along(camera, x, y, headings[k, 0], headings[k, 1])
            ahead = unit[j, 0] * ex + unit[j, 1] * ey + unit[j, 2] * ez
            up = unit[j, 0] * tx + unit[j, 1] * ty + unit[j, 2] * tz
            over = math.asin(sine[j, k]) - math.atan2(-ahead, up)
            if over <= 0.0:
                by_horizon, by_tangent = 0.0, given
            elif over < width:
                by_horizon, by_tangent = 2.0 * given, -given
            else:
                by_horizon, by_tangent = given, 0.0
            by_sine[j, k] = by_horizon / math.sqrt(1.0 - sine[j, k] * sine[j, k])
            if by_tangent != 0.0:
                square = ahead * ahead + up * up
                by_ahead, by_up = -up / square * by_tangent, ahead / square * by_tangent
                by_unit[j, 0] += by_ahead * ex + by_up * tx
                by_unit[j, 1] += by_ahead * ey + by_up * ty
                by_unit[j, 2] += by_ahead * ez + by_up * tz
