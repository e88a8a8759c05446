from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from anylight.errors import InvalidInputError
from anylight.facets.modes import smooth_modes
from anylight.geometry.camera import Orthographic
from anylight.joint.problem.fit import evaluate as evaluate_fit
from anylight.joint.problem.pyramid import halve
from anylight.joint.terms.known_depth import KnownDepth
from anylight.metrics import evaluate
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from tests.joint.scenes import blob_level


@pytest.fixture
def level(rng):
    return blob_level(rng)


@pytest.fixture
def known(level, rng):
    weight = (rng.random(level.size) < 0.8) * 1.0
    return KnownDepth(level, rng.standard_normal(level.size), weight, 0.05)


def random_surface(level, rng):
    return level.centred(rng.standard_normal(level.grid.shape) * level.grid.inside)


def linear(known, surface):
    """The term at a surface; its curvature does not look at the photos' fit."""
    light = np.ones((1, known.level.photos.num_columns))
    return known.linearise(surface, evaluate_fit(known.level, surface, light), 1.0)


def product(term, change):
    found = np.zeros(change.shape)
    term.add_product(change, found)
    return found


def cost(known, surface):
    unit, _ = known.level.normals(*known.level.slopes(surface))
    return known.cost(surface, unit)


def test_spreading_pixels_is_the_adjoint_of_averaging_corners(level, rng):
    surface, values = random_surface(level, rng), rng.standard_normal(level.size)
    assert (level.from_pixels(values) * surface).sum() == pytest.approx(
        values @ level.at_pixels(surface)
    )


def test_the_gradient_is_the_derivative_of_the_cost(level, known, rng):
    surface, step = random_surface(level, rng), random_surface(level, rng)
    numeric = (cost(known, surface + 1e-5 * step) - cost(known, surface - 1e-5 * step)) / 2e-5
    gradient = np.zeros(level.grid.shape)
    linear(known, surface).add_gradient(gradient)
    assert 2 * (gradient * step).sum() == pytest.approx(numeric, rel=1e-3)


def test_a_constant_costs_nothing(level, known, rng):
    surface = random_surface(level, rng)
    raised = surface + 3.0 * level.grid.inside
    assert cost(known, raised) == pytest.approx(cost(known, surface))
    assert np.allclose(product(linear(known, surface), 1.0 * level.grid.inside), 0)


def test_the_curvature_is_symmetric_positive_and_below_its_diagonal(level, known, rng):
    term = linear(known, random_surface(level, rng))
    a, b = random_surface(level, rng), random_surface(level, rng)
    diagonal = np.zeros(level.grid.shape)
    term.add_diagonal(diagonal)
    assert (a * product(term, b)).sum() == pytest.approx((b * product(term, a)).sum())
    assert 0 <= (a * product(term, a)).sum() <= (a * diagonal * a).sum()


def test_the_stiffness_is_the_curvature_along_modes(level, known, rng):
    surface = random_surface(level, rng)
    term, modes = linear(known, surface), smooth_modes(level, surface)
    amounts = rng.standard_normal(len(modes))
    along = np.zeros(level.grid.shape)
    modes.add(amounts, along)
    exact = (along * product(term, along)).sum()
    assert amounts @ term.stiffness(modes) @ amounts == pytest.approx(exact, rel=1e-6)


def test_strays_hardly_move_the_mean(known):
    height = known.height + 5.0
    height[:20] += 100.0
    assert known.deviation(height).mean == pytest.approx(5.0, abs=0.05)


def test_halving_keeps_a_constant_depth(level, known):
    coarse = replace(known, height=np.full(level.size, 2.5)).halved(level, halve(level))
    there = coarse.weight > 0
    assert np.allclose(coarse.height[there], 2.5)
    assert coarse.weight.sum() * 4 == pytest.approx(known.weight.sum())
    assert coarse.strength == known.strength


@pytest.fixture(scope="module")
def pit():
    return render(SynthOptions(shape="pit", albedo="bars", images=8, height=80))


def rough_depth(scene, rng):
    """Blurred, noisy, with holes and strays, in mm."""
    mask, depth = scene.truth.mask, 800 * np.where(scene.truth.mask, scene.truth.depth, 0)
    share = ndimage.gaussian_filter(mask.astype(float), 2)
    blurred = ndimage.gaussian_filter(depth, 2) / np.maximum(share, 1e-6)
    noisy = blurred * (1 + 0.002 * rng.standard_normal(mask.shape))
    noisy[rng.random(mask.shape) < 0.02] *= 1.5
    noisy[rng.random(mask.shape) < 0.3] = np.nan
    return np.where(mask, noisy, np.nan)


@pytest.mark.slow
def test_a_rough_depth_decides_hill_or_hollow_and_the_scale(pit, rng):
    plain = evaluate(reconstruct(pit.capture).reconstruction, pit.truth)
    helped = replace(pit.capture, depth=rough_depth(pit, rng), unit="mm")
    found = reconstruct(helped).reconstruction
    assert evaluate(found, pit.truth).mae_deg < min(3.0, 0.5 * plain.mae_deg)
    mask = pit.truth.mask
    assert found.unit == "mm"
    error = found.depth[mask] / (800 * pit.truth.depth[mask]) - 1
    assert abs(np.median(error)) < 0.002
    assert np.quantile(np.abs(error), 0.95) < 0.01


def test_the_published_method_takes_it_as_a_start(pit, rng):
    helped = replace(pit.capture, depth=rough_depth(pit, rng), unit="mm")
    found = reconstruct(helped, preset="paper")
    assert any("its start only" in warning for warning in found.warnings)


def test_parallel_rays_and_scraps_are_refused(pit, rng):
    depth = rough_depth(pit, rng)
    with pytest.raises(InvalidInputError, match="perspective"):
        replace(pit.capture, depth=depth, camera=Orthographic((0.0, 0.0)))
    depth[4:] = np.nan
    with pytest.raises(InvalidInputError, match="too little"):
        replace(pit.capture, depth=depth)
