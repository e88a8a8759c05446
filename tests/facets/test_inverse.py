import numpy as np

from anylight.facets.grid import FacetGrid
from anylight.facets.inverse import FacetInverse
from anylight.geometry.camera import Orthographic
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg


def disc():
    rows, columns = np.indices((70, 80))
    return FacetGrid((rows - 35) ** 2 + (columns - 40) ** 2 < 33**2, Orthographic((0.0, 0.0)))


def test_it_is_symmetric(rng):
    level = disc()
    blocks = np.stack([rng.random(level.size) + 1, np.zeros(level.size), np.ones(level.size)])
    operator = level.assemble(blocks, np.full(level.size, 1e-3))
    inverse, inside = FacetInverse(operator), level.grid.inside
    a, b = (rng.standard_normal(inside.shape) * inside for _ in range(2))
    one, other = (a * inverse(b)).sum(), (b * inverse(a)).sum()
    assert np.isclose(one, other, rtol=1e-4)


def test_heights_that_alternate_are_found_as_fast_as_smooth_ones(rng):
    level = disc()
    blocks = np.stack([np.ones(level.size), np.zeros(level.size), np.ones(level.size)])
    operator = level.assemble(blocks, np.full(level.size, 1e-5))
    operator.centre[level.grid.inside] += 1e-9
    source = level.scatter(*rng.standard_normal((2, level.size)))
    found = pcg(operator, source, FacetInverse(operator), 1e-6)
    assert found.iterations < 20
    assert 3 * found.iterations < pcg(operator, source, Multigrid(operator), 1e-6).iterations
