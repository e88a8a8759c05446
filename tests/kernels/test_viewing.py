import numpy as np
import pytest

from anylight.joint.terms.gauge import in_view, mean_normal, spread, strain, strain_gradient
from tests.joint.scenes import blob_level
from tests.kernels.test_facets import CAMERAS


@pytest.fixture(params=CAMERAS)
def level(rng, request):
    return blob_level(rng, request.param)


def facing(level, surface):
    return level.normals(*level.slopes(surface))


@pytest.mark.twin("kernels.viewing._total", "kernels.viewing._turned")
def test_the_mean_normal_is_that_of_turned_ones(level, rng):
    cover = rng.random(level.size).astype(np.float32)
    unit, _ = facing(level, 0.05 * rng.standard_normal(level.grid.shape))
    mean = np.average(in_view(level, unit), axis=1, weights=cover)
    np.testing.assert_allclose(mean_normal(level.reweighed(cover), unit), mean, atol=1e-6)


@pytest.mark.twin("kernels.viewing.turns_in_view")
def test_the_gradient_of_the_strains_is_their_derivative(level, rng):
    level = level.reweighed(rng.random(level.size).astype(np.float32))
    surface, change = 0.05 * rng.standard_normal((2, *level.grid.shape)) * level.grid.inside
    unit, length = (part.astype(np.float32) for part in facing(level, surface))
    along = (strain_gradient(level, unit, length) * change).sum(axis=(1, 2), dtype=float)
    ahead, behind = (strain(level, facing(level, surface + s * change)[0]) for s in (1e-4, -1e-4))
    np.testing.assert_allclose(along * spread(), (ahead - behind) / 2e-4 * spread(), atol=1e-5)
