from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from anylight.io.images import read_image
from anylight.photometry.environment import (
    captured_energy,
    equivalent_lights,
    flux,
    irradiance,
    panorama,
    project,
    resample,
    solid_angles,
    texel_directions,
    turn,
)
from anylight.photometry.harmonics import DEGREES, half_cosines, harmonics, num_harmonics
from anylight.photometry.shading import intensity, shading
from anylight.synth.lights import embedded_lights


@pytest.fixture
def environments(rng):
    return rng.random((3, 24, 48, 2)) ** 12


@pytest.fixture
def normals(rng):
    n = rng.standard_normal((150, 3))
    return n / np.linalg.norm(n, axis=1, keepdims=True)


def test_texels_tile_the_sphere():
    assert np.isclose(solid_angles(31, 62).sum(), 4 * np.pi)
    assert np.allclose(np.linalg.norm(texel_directions(31, 62), axis=-1), 1)


def test_orientation_of_the_map():
    d = texel_directions(64, 128)
    assert d[0, 0, 1] < -0.99  # top row is up, −y
    assert d[32, 64, 2] < -0.99  # centre looks at the camera, −z
    assert d[32, 96, 0] < -0.99  # right half is the camera's left, −x


def test_uniform_light_gives_pi_everywhere(normals):
    shade = irradiance(np.ones((1, 128, 256, 1)), normals)
    assert np.allclose(shade, np.pi, rtol=1e-3)


def test_equivalent_light_times_normal_is_irradiance(environments, normals):
    lights = equivalent_lights(environments, normals)
    assert np.allclose((lights * normals).sum(-1), irradiance(environments, normals))


def test_equivalent_light_is_the_gradient_of_irradiance(normals):
    # On the sphere, for light without sharp lamps: moving n within the tangent plane changes
    # the irradiance by L̄·δ.
    smooth = panorama(np.array([[[2.0, 0.3, -0.8, 0.4]]]), 96)
    n, step = normals[:20], 1e-3
    tangent = np.cross(n, [0.3, 0.5, 0.8])
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    ahead, behind = n + step * tangent, n - step * tangent
    change = (irradiance(smooth, ahead) - irradiance(smooth, behind))[0, 0] / (2 * step)
    light = equivalent_lights(smooth, n)[0, 0]
    assert np.allclose(change, (light * tangent).sum(-1), atol=2e-3 * np.abs(light).max())


def test_harmonic_sum_approaches_the_integral(environments, normals):
    exact = irradiance(environments, normals)
    errors = [np.abs(shading(project(environments, order), normals) - exact).max() / exact.max()
              for order in DEGREES]  # fmt: skip
    assert all(after < before for before, after in pairwise(errors))
    assert errors[-1] < 0.02


def test_band_limited_light_is_shaded_exactly(rng, normals):
    lighting = rng.standard_normal((2, 3, 31)) * 0.1
    light = panorama(lighting, 128)
    exact = irradiance(light, normals)
    assert np.allclose(shading(lighting, normals), exact, atol=2e-3 * np.abs(exact).max())


@pytest.mark.parametrize("order", DEGREES)
def test_projection_undoes_panorama_to_second_order(order, rng):
    lighting = rng.standard_normal((2, 3, num_harmonics(order)))
    errors = [np.abs(project(panorama(lighting, h), order) - lighting).max() for h in (200, 400)]
    assert errors[1] < 5e-3
    assert errors[1] < 1e-12 or errors[1] < errors[0] / 3.9


def test_rotating_light_and_normal_together_changes_nothing(rng, normals):
    # A lamp in direction ω has harmonics k_l Y(ω): shading depends on ω·n only.
    lamp = np.array([[0.36, -0.48, -0.8]])
    rotation = Rotation.random(rng=rng).as_matrix()
    for order in (1, 2, 4, 6, 8):
        before = shading(_lamp(lamp, order), normals)
        after = shading(_lamp(lamp @ rotation.T, order), normals @ rotation.T)
        assert np.allclose(before, after, atol=1e-12)


def _lamp(direction, order):
    return (harmonics(direction, order) * half_cosines(order))[:, None, :]


def test_intensity_is_albedo_times_shading(rng, normals):
    albedo, lighting = rng.random((3, 150)), rng.random((5, 3, 9))
    assert np.allclose(intensity(albedo, lighting, normals), albedo * shading(lighting, normals))


@pytest.mark.parametrize("shape", [(180, 360), (64, 128), (50, 101), (256, 512)])
def test_resampling_keeps_the_light(shape, rng):
    fine = rng.random((*shape, 3))
    fine[shape[0] // 3, 5] = 2e5  # a sun of one texel
    coarse = resample(fine, 32)
    assert np.allclose(flux(coarse[None]).sum(-1), flux(fine[None]).sum(-1))
    before, after = project(fine[None], 1)[0, 0, 1:], project(coarse[None], 1)[0, 0, 1:]
    cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
    assert np.rad2deg(np.arccos(cosine)) < 180 / 32  # the sun moves by less than a texel


def test_turning_moves_light_around_the_vertical(rng):
    light = rng.random((32, 64, 1))
    turned = project(turn(light, 0.25)[None], 1)[0, 0]
    still = project(light[None], 1)[0, 0]
    assert np.allclose(turned[:2], still[:2])  # l = 0 and the vertical stay
    assert np.allclose(np.abs(turned[2:]), np.abs(still[2:][::-1]))  # z and x change places


def test_low_orders_capture_the_energy_of_embedded_lights():
    lights = embedded_lights()
    assert (captured_energy(lights, 1) >= 0.75).all()
    assert (captured_energy(lights, 2) >= 0.98).all()


def test_low_orders_capture_the_energy_of_photographed_lights(shared_data):
    paths = sorted((shared_data / "hdr").glob("*.hdr"))
    assert len(paths) == 25
    lights = np.stack([resample(read_image(path).astype(float), 64) for path in paths])
    for order, least in ((1, 0.75), (2, 0.98)):
        shares = captured_energy(lights, order)
        assert (shares >= least).all(), paths[shares.argmin()].name
