"""Light of lamps over horizons against plain formulas, and derivatives."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.kernels import lamps
from anylight.sky import FADE_RAD, Sky, lamp_directions

from .test_horizons import CAMERAS, hilly, to_camera, unit_normals

NUM = 60


@pytest.fixture(params=CAMERAS, ids=["perspective", "orthographic"])
def sky(request):
    mask, _ = hilly(request.param)
    return Sky(mask, request.param, lamp_directions(NUM))


def skyline_of(sky, unit):
    _, depth = hilly(sky.camera)
    return sky.skyline(depth, unit)


def let_through(over):
    x = np.clip(0.5 * (over / FADE_RAD + 1), 0, 1)
    return x * x * (3 - 2 * x)


def plain_passes(sky, unit, centre):
    """Share of every lamp that is let through, pixel by pixel."""
    elevation, heading, share = (field.astype(float) for field in sky.aim(sky.pixels))
    before = heading.astype(int)
    rows = np.arange(len(unit))[:, None]
    edge = (1 - share) * centre[rows, before]
    edge += share * centre[rows, (before + 1) % sky.num_headings]
    return let_through(elevation - edge) * (unit @ sky.lamps.T > 0)


@pytest.mark.twin("kernels.lamps.aim")
def test_where_a_lamp_stands(sky):
    elevation, heading, share = sky.aim(sky.pixels)
    for j in range(0, sky.size, 23):
        row, column = sky.pixels[j]
        towards = to_camera(sky.camera, row, column)
        for d in range(0, NUM, 7):
            lamp = sky.lamps[d].astype(float)
            assert np.sin(elevation[j, d]) == pytest.approx(lamp @ towards, abs=1e-5)
            # Going a little towards the lamp moves the image point along its heading.
            here = sky.camera.points(np.array([float(column)]), np.array([float(row)]), np.ones(1))
            moved = sky.camera.project(here + 1e-4 * lamp) - sky.camera.project(here)
            angle = 2 * np.pi * (heading[j, d] + share[j, d]) / sky.num_headings
            along = np.array([np.cos(angle), np.sin(angle)])
            assert moved[0] @ along == pytest.approx(np.linalg.norm(moved[0]), rel=1e-3)


@pytest.mark.twin("kernels.lamps.reach", "kernels.lamps.passes", "kernels.lamps._let_through")
def test_what_reaches_a_pixel(sky):
    unit = unit_normals(sky.size)
    skyline = skyline_of(sky, unit)
    out = np.empty((sky.size, NUM), np.float32)
    sky.reach(unit, skyline, out)
    through = plain_passes(sky, unit, skyline.centre)
    np.testing.assert_allclose(out, through * np.maximum(unit @ sky.lamps.T, 0), atol=2e-5)
    passes = sky.passes(unit, skyline.sine, sky.pixels, sky.aim(sky.pixels))
    np.testing.assert_allclose(passes, through, atol=2e-4)


@pytest.mark.twin("kernels.lamps.reach_adjoint")
def test_the_derivative_of_what_reaches(sky):
    unit = unit_normals(sky.size)
    skyline, aim = skyline_of(sky, unit), sky.aim(sky.pixels)
    rng = np.random.default_rng(2)
    given = rng.standard_normal((sky.size, NUM)).astype(np.float32)
    turn, lift = rng.standard_normal(unit.shape), rng.standard_normal(skyline.centre.shape)
    size, ends = 1e-3, []
    for sign in (1, -1):
        out = np.empty_like(given)
        lamps.reach(
            (unit + sign * size * turn).astype(np.float32),
            (skyline.centre + sign * size * lift).astype(np.float32),
            sky.lamps, *aim, FADE_RAD, out,
        )  # fmt: skip
        ends.append(out.astype(float))
    slope = (ends[0] - ends[1]) / (2 * size)
    by_unit, by_centre = np.empty_like(unit), np.empty_like(skyline.centre)
    lamps.reach_adjoint(unit, skyline.centre, sky.lamps, *aim, FADE_RAD, given, by_unit, by_centre)
    claimed = (by_unit * turn).sum() + (by_centre * lift).sum()
    assert claimed == pytest.approx((slope * given).sum(), rel=2e-2)


def samples(seed=0, num=40, channels=2, photos=5):
    rng = np.random.default_rng(seed)
    shading = rng.uniform(0.1, 1, (num, channels * photos)).astype(np.float32)
    albedo = rng.uniform(0.2, 0.9, (num, channels)).astype(np.float32)
    noisy = np.repeat(albedo, photos, axis=1) * shading
    noisy += 0.05 * rng.standard_normal(noisy.shape)
    weight = rng.uniform(0, 1, shading.shape).astype(np.float32)
    return shading, albedo, noisy.astype(np.float32), weight


@pytest.mark.twin("kernels.lamps.misfit", "kernels.lamps.misfit_adjoint")
def test_the_misfit_of_every_photo():
    shading, albedo, photos, weight = samples()
    num, scale = 5, 0.03
    off = np.repeat(albedo, num, axis=1) * shading - photos
    penalty = weight * scale**2 * np.log1p((off / scale) ** 2)
    residual, sums = np.empty_like(shading), np.zeros((3, num))
    lamps.misfit(shading, albedo, photos, weight, np.float32(scale), residual, sums)
    wanted = penalty.reshape(-1, 2, num).sum(axis=(0, 1))
    np.testing.assert_allclose(sums.sum(axis=0), wanted, rtol=1e-4)
    gain = np.linspace(0.5, 2, num).astype(np.float32)
    slope = weight * 2 * off / (1 + (off / scale) ** 2) * np.tile(gain, 2)
    by_paint = np.empty_like(albedo)
    lamps.misfit_adjoint(shading, albedo, gain, residual, by_paint)
    wide = np.repeat(albedo, num, axis=1)
    np.testing.assert_allclose(residual, slope * wide, rtol=2e-3, atol=1e-5)
    wanted = (slope * wide * shading).reshape(-1, 2, num).sum(axis=2)
    np.testing.assert_allclose(by_paint, wanted, rtol=2e-3, atol=1e-4)


@pytest.mark.twin("kernels.lamps.face")
def test_how_a_normal_explains_its_pixel():
    rng = np.random.default_rng(4)
    num, channels, photos = 12, 2, 6
    vectors = rng.standard_normal((3, num, channels * photos)).astype(np.float32)
    unit = unit_normals(num)
    weight = np.ones((num, channels * photos), np.float32)
    gain = np.linspace(0.5, 1.5, photos).astype(np.float32)
    scale = 10.0  # so large that the penalty is a square
    around = rng.uniform(0, 0.5, (num, channels * photos)).astype(np.float32)
    shade = np.einsum("pa,apk->pk", unit, vectors) + around
    paint = rng.uniform(0.3, 0.9, (num, channels))
    seen = np.repeat(paint, photos, axis=1) * shade + 0.05 * rng.standard_normal(shade.shape)
    seen = seen.astype(np.float32)

    def evaluate(normals):
        misfit, albedo = np.empty(num, np.float32), np.full((num, channels), 0.5, np.float32)
        gradient, blocks = np.empty((num, 3), np.float32), np.empty((num, 6), np.float32)
        lamps.face(
            vectors, around, normals.astype(np.float32), seen, weight, gain, np.float32(scale),
            channels, misfit, albedo, gradient, blocks,
        )  # fmt: skip
        return misfit, albedo, gradient, blocks

    misfit, albedo, gradient, blocks = evaluate(unit)
    wide = np.tile(gain, channels)
    for c in range(channels):
        own = slice(c * photos, (c + 1) * photos)
        best = (gain * shade[:, own] * seen[:, own]).sum(1) / (gain * shade[:, own] ** 2).sum(1)
        np.testing.assert_allclose(albedo[:, c], np.maximum(best, 0), rtol=1e-2, atol=1e-3)
    left = np.repeat(albedo, photos, axis=1) * shade - seen
    np.testing.assert_allclose(misfit, (wide * left**2).sum(axis=1), rtol=1e-2)
    # Half the derivative of the misfit, the albedo adapting.
    turn, size = rng.standard_normal(unit.shape), 1e-2
    slope = (evaluate(unit + size * turn)[0] - evaluate(unit - size * turn)[0]) / (2 * size)
    free = (albedo > 0).all(axis=1)
    claimed = 2 * (gradient * turn).sum(axis=1)
    np.testing.assert_allclose(claimed[free], slope[free], rtol=0.05, atol=0.02)
    xx, _, _, yy, _, zz = blocks.T
    assert (np.stack([xx, yy, zz]) >= 0).all()


def test_cameras_are_both_kinds():
    assert {type(camera) for camera in CAMERAS} == {Perspective, Orthographic}
