"""Heights of the next finer grid against plain NumPy."""

import numpy as np
import pytest

from anylight.facets.grid import FacetGrid
from anylight.facets.resolution import children_of, refine
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.domain import Domain
from tests.conftest import odd_mask


def on_photo(level, values):
    """Values of the corners where they are in the photo; NaN where there is none."""
    rows, columns = np.flatnonzero(level.mask.any(axis=1)), np.flatnonzero(level.mask.any(axis=0))
    image = np.full([n + 3 for n in level.mask.shape], np.nan)
    height, width = level.grid.shape
    box = np.where(level.grid.inside, values, np.nan)
    image[rows[0] : rows[0] + height, columns[0] : columns[0] + width] = box
    return image[1:, 1:]


@pytest.mark.twin("kernels.resolution.refine")
@pytest.mark.parametrize("scale", [1, 2])
def test_fine_corners_are_the_mean_of_the_coarse_ones_around(rng, scale):
    camera = Perspective((30.0, 30.0), (8.0, 6.0)) if scale == 1 else Orthographic((8.0, 6.0))
    fine = FacetGrid(np.pad(odd_mask(), ((3, 0), (2, 1))), camera)
    coarse = FacetGrid(children_of(Domain(fine.mask))[0], camera)
    heights = rng.standard_normal(coarse.grid.shape) * coarse.grid.inside
    found = on_photo(fine, refine(coarse, fine, heights))
    given, wanted = on_photo(coarse, heights), np.full(found.shape, np.nan)
    for i, j in zip(*np.nonzero(np.isfinite(found)), strict=True):
        around = [given[a, b] for a in (i // 2, (i + 1) // 2) for b in (j // 2, (j + 1) // 2)]
        wanted[i, j] = scale * np.nanmean(around)
    wanted -= np.nanmean(wanted)
    assert np.allclose(found, wanted, equal_nan=True)
