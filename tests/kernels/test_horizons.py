"""Horizons against a plain walk over the depth image, and their derivatives."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.kernels import horizons
from anylight.sky import FADE_RAD, Sky, lamp_directions

CAMERAS = (Perspective((40.0, 42.0), (9.5, 8.0)), Orthographic((9.5, 8.0)))


def hilly(camera, seed=0):
    """Depths of a bumpy surface with a hole, all parts of it horizons of others."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[:18, :20]
    mask = (rows - 8.5) ** 2 + (columns - 9.5) ** 2 < 80
    mask &= ~((rows == 9) & (columns == 5))
    bumps = 0.4 * np.sin(0.9 * rows) * np.cos(0.7 * columns) + 0.05 * rng.random(rows.shape)
    depth = 5 + 0.3 * bumps if isinstance(camera, Perspective) else 3 * bumps
    return mask, np.where(mask, depth, 0).astype(np.float32)


def unit_normals(num, seed=1):
    rng = np.random.default_rng(seed)
    normals = np.stack([*rng.uniform(-0.6, 0.6, (2, num)), -np.ones(num)], axis=1)
    return (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)


def to_camera(camera, row, column):
    ray = camera.rays(np.array([float(column)]), np.array([float(row)]))[0]
    return -ray / np.linalg.norm(ray)


def walked(sky, depth, row, column, heading):
    """Sine of the highest sample, found in the obvious way."""
    camera, best = sky.camera, -0.9999
    own = np.array([float(depth[row, column])])
    here = camera.points(np.array([float(column)]), np.array([float(row)]), own)[0]
    for dr, dc, b, a in sky.offsets[heading].astype(float):
        r, c = row + int(dr), column + int(dc)
        if not (0 <= r < depth.shape[0] - 1 and 0 <= c < depth.shape[1] - 1):
            continue
        if not sky.mask[r : r + 2, c : c + 2].all():
            continue
        square = depth[r : r + 2, c : c + 2].astype(float)
        there = np.array([1 - b, b]) @ square @ np.array([1 - a, a])
        point = camera.points(np.array([c + a]), np.array([r + b]), np.array([there]))[0]
        step = point - here
        best = max(best, step @ to_camera(camera, row, column) / np.linalg.norm(step))
    return min(best, 0.9999)


@pytest.mark.twin("kernels.horizons.rise", "kernels.horizons._sample", "kernels.horizons._ray")
@pytest.mark.parametrize("camera", CAMERAS)
def test_the_horizon_is_the_highest_sample(camera):
    mask, depth = hilly(camera)
    sky = Sky(mask, camera, lamp_directions(8))
    sine = sky.rise(depth, sky.pixels)
    for j in range(0, len(sky.pixels), 17):
        for k in range(0, sky.num_headings, 5):
            row, column = sky.pixels[j]
            assert sine[j, k] == pytest.approx(walked(sky, depth, row, column, k), abs=2e-5)


@pytest.mark.twin("kernels.horizons.rise_adjoint")
@pytest.mark.parametrize("camera", CAMERAS)
def test_the_derivative_of_the_horizons(camera):
    mask, depth = hilly(camera)
    sky = Sky(mask, camera, lamp_directions(8))
    rng = np.random.default_rng(3)
    sine, which = np.empty((sky.size, 32), np.float32), np.empty((sky.size, 32), np.int16)
    numbers = camera.numbers
    horizons.rise(depth, mask, sky.pixels, numbers, sky.offsets, sine, which)
    given = rng.standard_normal(sine.shape).astype(np.float32)
    parts = np.zeros((4, *mask.shape), np.float32)
    horizons.rise_adjoint(depth, sky.pixels, numbers, sky.offsets, which, given, parts)
    change = rng.standard_normal(mask.shape) * mask
    size = 1e-3
    ends = []
    for sign in (1, -1):
        moved, same = np.empty_like(sine), np.empty_like(which)
        horizons.rise(
            (depth + sign * size * change).astype(np.float32), mask, sky.pixels, numbers,
            sky.offsets, moved, same,
        )  # fmt: skip
        ends.append((moved, same))
    steady = (ends[0][1] == which) & (ends[1][1] == which)
    assert steady.mean() > 0.9
    by_hand = (ends[0][0].astype(float) - ends[1][0]) / (2 * size)
    parts[:] = 0
    given = np.where(steady, given, 0).astype(np.float32)
    horizons.rise_adjoint(depth, sky.pixels, numbers, sky.offsets, which, given, parts)
    assert (parts.sum(axis=0) * change).sum() == pytest.approx((by_hand * given).sum(), rel=5e-3)


def edge_of(sky, unit, row, column, heading, sine):
    """Elevation at which light is half hidden, from the formulas."""
    camera = sky.camera
    towards = to_camera(camera, row, column)
    cosine, sin = sky.headings[heading].astype(float)
    focal = camera.focal_px if isinstance(camera, Perspective) else (1.0, 1.0)
    along = np.array([cosine / focal[0], sin / focal[1], 0.0])
    along -= towards * (along @ towards)
    along /= np.linalg.norm(along)
    tangent = np.arctan2(-(unit @ along), unit @ towards)
    over = np.arcsin(sine) - tangent
    if over <= 0:
        return tangent - FADE_RAD
    return tangent + (2 * over - FADE_RAD if over < FADE_RAD else over)


@pytest.mark.twin("kernels.horizons.edges", "kernels.horizons._along")
@pytest.mark.parametrize("camera", CAMERAS)
def test_light_fades_around_the_horizon_or_below_the_own_plane(camera):
    mask, depth = hilly(camera)
    sky = Sky(mask, camera, lamp_directions(8))
    unit = unit_normals(sky.size)
    skyline = sky.skyline(depth, unit)
    for j in range(0, sky.size, 13):
        for k in range(0, 32, 7):
            wanted = edge_of(sky, unit[j].astype(float), *sky.pixels[j], k, skyline.sine[j, k])
            assert skyline.centre[j, k] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.twin("kernels.horizons.edges_adjoint")
@pytest.mark.parametrize("camera", CAMERAS)
def test_the_derivative_of_the_edges(camera):
    mask, depth = hilly(camera)
    sky = Sky(mask, camera, lamp_directions(8))
    rng = np.random.default_rng(5)
    unit = unit_normals(sky.size)
    sine = sky.skyline(depth, unit).sine
    change, turn = rng.standard_normal(sine.shape), rng.standard_normal(unit.shape)
    arguments = (sky.pixels, camera.numbers, sky.headings)
    size, ends = 1e-3, []
    for sign in (1, -1, 0):
        centre = np.empty_like(sine)
        moved = np.clip(sine + sign * size * change, -0.99, 0.99).astype(np.float32)
        turned = (unit + sign * size * turn).astype(np.float32)
        horizons.edges(turned, *arguments, moved, FADE_RAD, centre)
        ends.append(centre)
    slope = (ends[0] - ends[1]) / (2 * size)
    given = rng.standard_normal(sine.shape).astype(np.float32)
    bend = np.abs(ends[0] + ends[1] - 2 * ends[2])  # one of the three pieces ends here
    given *= (np.abs(sine) < 0.98) & (bend < 1e-4)
    assert (given != 0).mean() > 0.7
    by_sine, by_unit = np.empty_like(sine), np.zeros_like(unit)
    horizons.edges_adjoint(unit, *arguments, sine, FADE_RAD, given, by_sine, by_unit)
    claimed = (by_sine * change).sum() + (by_unit * turn).sum()
    assert claimed == pytest.approx((slope * given).sum(), rel=2e-2)
