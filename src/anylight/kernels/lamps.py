"""Light of many lamps over horizons: how much of every lamp reaches a pixel, and derivatives."""

import math

from anylight.compiler import numba
from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="pixels", grain=64)
def aim(begin, end, pixels, camera, lamps, num, elevation, heading, share):
    """Where every lamp stands in the sky of every pixel.

    Args:
        pixels: (P, 2) row and column of every pixel.
        camera: (f_u, f_v, u_0, v_0); f = 0 stands for parallel rays.
        lamps: (D, 3) directions.
        num: of headings.
        elevation: (P, D), made here: over the plane across the ray.
        heading: (P, D), made here: the heading before the lamp's.
        share: (P, D), made here: how far the lamp's lies towards the next heading.
    """
    fu, fv, u0, v0 = camera
    for j in range(begin, end):
        u, v = pixels[j, 1] - u0, pixels[j, 0] - v0
        if fu > 0.0:
            x, y = u / fu, v / fv
            size = math.sqrt(x * x + y * y + 1.0)
        for d in range(len(lamps)):
            lx, ly, lz = lamps[d, 0], lamps[d, 1], lamps[d, 2]
            if fu > 0.0:
                up = -(x * lx + y * ly + lz) / size
                angle = math.atan2(fv * ly - lz * v, fu * lx - lz * u)
            else:
                up = -lz
                angle = math.atan2(ly, lx)
            place = angle / (2.0 * math.pi) * num
            if place < 0.0:
                place += num
            before = int(place)
            elevation[j, d] = math.asin(min(max(up, -1.0), 1.0))
            heading[j, d] = before % num
            share[j, d] = min(max(place - before, 0.0), 1.0)


@numba.njit(inline="always", **_OPTIONS)
def _let_through(over, width):
    """Share of light that passes, and its derivative, at an elevation over the half-hidden one."""
    x = 0.5 * (over / width + 1.0)
    if x <= 0.0:
        return 0.0, 0.0
    if x >= 1.0:
        return 1.0, 0.0
    return x * x * (3.0 - 2.0 * x), 3.0 * x * (1.0 - x) / width


@loop(_OPTIONS, over="unit", grain=64)
def reach(begin, end, unit, centre, lamps, elevation, heading, share, width, out):
    """What one unit of every lamp gives to every pixel: cosine times what is let through.

    Args:
        unit: (P, 3) normals.
        centre: (P, headings) elevation at which light is half hidden.
        lamps: (D, 3) directions.
        elevation: as `aim` made it.
        heading: as `aim` made it.
        share: as `aim` made it.
        width: half the range of elevations over which light fades.
        out: (P, D), made here.
    """
    num = centre.shape[1]
    for j in range(begin, end):
        x, y, z = unit[j, 0], unit[j, 1], unit[j, 2]
        for d in range(len(lamps)):
            cosine = x * lamps[d, 0] + y * lamps[d, 1] + z * lamps[d, 2]
            if cosine <= 0.0:
                out[j, d] = 0.0
                continue
            k = heading[j, d]
            after = k + 1 if k + 1 < num else 0
            edge = centre[j, k] + share[j, d] * (centre[j, after] - centre[j, k])
            passes, _ = _let_through(elevation[j, d] - edge, width)
            out[j, d] = cosine * passes


@loop(_OPTIONS, over="unit", grain=64)
def reach_adjoint(
    begin, end, unit, centre, lamps, elevation, heading, share, width, by_reach, by_unit, by_centre
):
    """Derivatives by normals and edges.

    Args:
        unit: as given to `reach`.
        centre: as given to `reach`.
        lamps: as given to `reach`.
        elevation: as given to `reach`.
        heading: as given to `reach`.
        share: as given to `reach`.
        width: as given to `reach`.
        by_reach: (P, D), the derivative by what `reach` made.
        by_unit: (P, 3), made here.
        by_centre: (P, headings), made here.
    """
    num = centre.shape[1]
    for j in range(begin, end):
        x, y, z = unit[j, 0], unit[j, 1], unit[j, 2]
        gx, gy, gz = 0.0, 0.0, 0.0
        for k in range(num):
            by_centre[j, k] = 0.0
        for d in range(len(lamps)):
            cosine = x * lamps[d, 0] + y * lamps[d, 1] + z * lamps[d, 2]
            if cosine <= 0.0:
                continue
            k = heading[j, d]
            after = k + 1 if k + 1 < num else 0
            there = share[j, d]
            edge = centre[j, k] + there * (centre[j, after] - centre[j, k])
            passes, slope = _let_through(elevation[j, d] - edge, width)
            given = by_reach[j, d]
            gx += given * passes * lamps[d, 0]
            gy += given * passes * lamps[d, 1]
            gz += given * passes * lamps[d, 2]
            if slope > 0.0:
                lower = given * cosine * slope
                by_centre[j, k] -= (1.0 - there) * lower
                by_centre[j, after] -= there * lower
        by_unit[j, 0], by_unit[j, 1], by_unit[j, 2] = gx, gy, gz


@loop(_OPTIONS, over="sums", grain=1)
def misfit(begin, end, shading, albedo, photos, weight, scale, residual, sums):
    """Robust misfit of every photo, and its derivative by every predicted sample.

    Args:
        shading: (P, C·M).
        albedo: (P, C).
        photos: (P, C·M).
        weight: (P, C·M), how much a sample counts.
        scale: of the Cauchy penalty.
        residual: (P, C·M), made here: the derivative of the penalty by the sample.
        sums: (n, M) zeros; every row collects the penalties of its share of the pixels.
    """
    channels = albedo.shape[1]
    num = shading.shape[1] // channels
    parts, total = len(sums), len(shading)
    square = scale * scale
    for part in range(begin, end):
        for j in range(part * total // parts, (part + 1) * total // parts):
            for c in range(channels):
                paint = albedo[j, c]
                for m in range(num):
                    i = c * num + m
                    off = paint * shading[j, i] - photos[j, i]
                    ratio = off * off / square
                    sums[part, m] += weight[j, i] * square * math.log1p(ratio)
                    residual[j, i] = weight[j, i] * 2.0 * off / (1.0 + ratio)


@loop(_OPTIONS, over="shading", grain=512)
def misfit_adjoint(begin, end, shading, albedo, gain, residual, by_paint):
    """Derivative by the shading (in place of the residual) and by the logarithm of the albedo.

    Args:
        shading: as given to `misfit`.
        albedo: as given to `misfit`.
        gain: (M,) derivative of the energy by the misfit of every photo.
        residual: (P, C·M) as `misfit` made it; becomes the derivative by the shading.
        by_paint: (P, C), made here.
    """
    channels = albedo.shape[1]
    num = shading.shape[1] // channels
    for j in range(begin, end):
        for c in range(channels):
            paint, total = albedo[j, c], 0.0
            for m in range(num):
                i = c * num + m
                by_shading = residual[j, i] * gain[m] * paint
                total += by_shading * shading[j, i]
                residual[j, i] = by_shading
            by_paint[j, c] = total


@loop(_OPTIONS, over="unit", grain=64)
def passes(begin, end, unit, centre, lamps, elevation, heading, share, width, out):
    """The share of every lamp that is let through to a pixel; none from behind its own surface.

    Args:
        unit: as given to `reach`.
        centre: as given to `reach`.
        lamps: as given to `reach`.
        elevation: as given to `reach`.
        heading: as given to `reach`.
        share: as given to `reach`.
        width: as given to `reach`.
        out: (P, D), made here.
    """
    num = centre.shape[1]
    for j in range(begin, end):
        x, y, z = unit[j, 0], unit[j, 1], unit[j, 2]
        for d in range(len(lamps)):
            if x * lamps[d, 0] + y * lamps[d, 1] + z * lamps[d, 2] <= 0.0:
                out[j, d] = 0.0
                continue
            k = heading[j, d]
            after = k + 1 if k + 1 < num else 0
            edge = centre[j, k] + share[j, d] * (centre[j, after] - centre[j, k])
            out[j, d] = _let_through(elevation[j, d] - edge, width)[0]


@loop(_OPTIONS, over="unit", grain=64)
def face(
    begin,
    end,
    vectors,
    around,
    unit,
    photos,
    weight,
    gain,
    scale,
    channels,
    misfit,
    albedo,
    gradient,
    blocks,
):
    """How well normals explain their pixels, albedo eliminated; gradient and curvature by them.

    Args:
        vectors: (3, P, C·M): shading is their product with the normal …
        around: (P, C·M): … and this.
        unit: (P, 3) normals.
        photos: (P, C·M).
        weight: (P, C·M), how much a sample counts.
        gain: (M,), how much a photo counts.
        scale: of the Cauchy penalty.
        channels: number C.
        misfit: (P,), made here.
        albedo: (P, C), made here.
        gradient: (P, 3), made here.
        blocks: (P, 6), made here: xx, xy, xz, yy, yz, zz of the Gauss-Newton matrix.
    """
    num = photos.shape[1] // channels
    square = scale * scale
    for j in range(begin, end):
        x, y, z = unit[j, 0], unit[j, 1], unit[j, 2]
        total = 0.0
        for k in range(3):
            gradient[j, k] = 0.0
        for k in range(6):
            blocks[j, k] = 0.0
        for c in range(channels):
            paint, upper, lower = albedo[j, c], 0.0, 0.0
            for _ in range(3):
                upper, lower = 0.0, 0.0
                for m in range(num):
                    i = c * num + m
                    shade = x * vectors[0, j, i] + y * vectors[1, j, i] + z * vectors[2, j, i]
                    shade += around[j, i]
                    off = (paint * shade - photos[j, i]) / scale
                    w = weight[j, i] * gain[m] / (1.0 + off * off)
                    upper += w * shade * photos[j, i]
                    lower += w * shade * shade
                paint = max(upper / (lower + 1e-12), 0.0)
            albedo[j, c] = paint
            ax, ay, az = 0.0, 0.0, 0.0
            for m in range(num):
                i = c * num + m
                vx, vy, vz = vectors[0, j, i], vectors[1, j, i], vectors[2, j, i]
                shade = x * vx + y * vy + z * vz + around[j, i]
                off = paint * shade - photos[j, i]
                w = weight[j, i] * gain[m] / (1.0 + off * off / square)
                ax, ay, az = ax + w * shade * vx, ay + w * shade * vy, az + w * shade * vz
            ax, ay, az = ax / (lower + 1e-12), ay / (lower + 1e-12), az / (lower + 1e-12)
            for m in range(num):
                i = c * num + m
                vx, vy, vz = vectors[0, j, i], vectors[1, j, i], vectors[2, j, i]
                shade = x * vx + y * vy + z * vz + around[j, i]
                off = paint * shade - photos[j, i]
                ratio = off * off / square
                total += weight[j, i] * gain[m] * square * math.log1p(ratio)
                w = weight[j, i] * gain[m] / (1.0 + ratio)
                jx, jy = paint * (vx - shade * ax), paint * (vy - shade * ay)
                jz = paint * (vz - shade * az)
                gradient[j, 0] += w * off * jx
                gradient[j, 1] += w * off * jy
                gradient[j, 2] += w * off * jz
                blocks[j, 0] += w * jx * jx
                blocks[j, 1] += w * jx * jy
                blocks[j, 2] += w * jx * jz
                blocks[j, 3] += w * jy * jy
                blocks[j, 4] += w * jy * jz
                blocks[j, 5] += w * jz * jz
        misfit[j] = total
