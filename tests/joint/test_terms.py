"""Laws of every term: its gradient is the cost's, its product symmetric, its modes its own."""

import ast
from pathlib import Path

import numpy as np
import pytest

from anylight.facets.modes import smooth_modes
from anylight.joint.problem.fit import evaluate, first_light
from anylight.joint.problem.pyramid import halve
from anylight.joint.terms.gauge import GaugePrior, open_weights
from anylight.joint.terms.known_depth import KnownDepth
from anylight.joint.terms.protocol import LinearTerm, Term

from .scenes import rendered_level

EXAMPLE = Path(__file__).parents[2] / "examples" / "04_own_term.py"
ENERGY = 1.0


def example_term(level):
    """The term of the example, without running the example."""
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef)
    own = ast.Module([part for part in tree.body if isinstance(part, kinds)], [])
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(own, str(EXAMPLE), "exec"), names)
    return names["MirrorSymmetry"](level, (level.mask.shape[1] - 1) / 2)


def known_depth(level):
    rng = np.random.default_rng(1)
    height = 0.05 * rng.standard_normal(level.size)
    return KnownDepth(level, height, (rng.random(level.size) < 0.9) * 1.0, 0.05)


MAKERS = {
    "gauge": lambda level: GaugePrior(level, open_weights()),
    "known depth": known_depth,
    "symmetry": example_term,
}


@pytest.fixture(scope="module")
def level():
    return rendered_level(height=48, images=6)[0]


def round_surface(level):
    """A smooth hill over the mask."""
    rows, columns = np.indices(level.grid.shape)
    height, width = level.grid.shape
    y, x = (2 * rows / height - 1, 2 * columns / width - 1)
    return level.centred(0.1 * (x**2 + 0.7 * y**2 + 0.3 * x) * level.grid.inside)


@pytest.fixture
def surface(level, rng):
    noise = 1e-3 * rng.standard_normal(level.grid.shape) * level.grid.inside
    return level.centred(round_surface(level) + noise)


@pytest.fixture
def light(level, surface):
    return first_light(level, surface, 1)


def direction(level, rng):
    """A smooth change, so that single precision does not drown its effect."""
    modes = smooth_modes(level, np.zeros(level.grid.shape))
    out = np.zeros(level.grid.shape)
    modes.add(rng.standard_normal(len(modes)), out)
    return out


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_gradient_is_half_the_derivative_of_the_cost(make, level, surface, light, rng):
    term = make(level)
    assert isinstance(term, Term)

    def cost(at):
        return ENERGY * term.cost(at, evaluate(level, at, light).unit)

    linear = term.linearise(surface, evaluate(level, surface, light), ENERGY)
    assert isinstance(linear, LinearTerm)
    gradient = np.zeros(level.grid.shape)
    linear.add_gradient(gradient)
    change = direction(level, rng)
    step = 1e-3 / np.abs(change).max()
    slope = (cost(surface + step * change) - cost(surface - step * change)) / (2 * step)
    assert 2 * (gradient * change).sum() == pytest.approx(slope, rel=2e-2)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_product_is_symmetric_positive_and_bounded(make, level, surface, light, rng):
    linear = make(level).linearise(surface, evaluate(level, surface, light), ENERGY)

    def product(x):
        out = np.zeros(level.grid.shape)
        linear.add_product(x, out)
        return out

    a, b = (rng.standard_normal(level.grid.shape) * level.grid.inside for _ in range(2))
    assert (product(a) * b).sum() == pytest.approx((a * product(b)).sum(), rel=1e-4, abs=1e-9)
    assert (product(a) * a).sum() >= 0
    diagonal = np.zeros(level.grid.shape)
    linear.add_diagonal(diagonal)
    assert (diagonal >= 0).all()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_stiffness_is_the_product_along_modes(make, level, surface, light):
    linear = make(level).linearise(surface, evaluate(level, surface, light), ENERGY)
    modes = smooth_modes(level, surface)
    stiffness = linear.stiffness(modes)
    for k in (0, 3, len(modes) - 1):
        field, product = np.zeros(level.grid.shape), np.zeros(level.grid.shape)
        modes.add(np.eye(len(modes))[k], field)
        linear.add_product(field, product)
        expected = modes.collect(product)
        assert np.allclose(stiffness[k], expected, atol=2e-2 * np.abs(stiffness).max())


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_term_costs_about_the_same_at_half_the_resolution(make, level, surface, light):
    """Smooth surfaces cost alike; known heights are averaged with their noise, so less."""
    coarse = halve(level)
    term = make(level)
    fine_cost = term.cost(surface, evaluate(level, surface, light).unit)
    smooth = round_surface(coarse)
    unit, _ = coarse.normals(*coarse.slopes(smooth))
    coarse_cost = term.halved(level, coarse).cost(smooth, unit)
    assert np.isfinite(coarse_cost)
    assert coarse_cost <= 1.5 * fine_cost + 1e-6
