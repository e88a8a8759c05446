"""The balloon under the slider is the one that a run starts from, only smaller."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.domain import Domain
from anylight.initial.options import BalloonOptions
from anylight.initial.start import balloon_start
from anylight.studio.balloon import silhouette

PERSPECTIVE = Perspective((120.0, 120.0), (44.5, 44.5))


def pear(side=90):
    v, u = np.mgrid[:side, :side] / side - 0.5
    return (u**2 + (v - 0.1) ** 2 < 0.09) | (u**2 + (v + 0.25) ** 2 < 0.03)


@pytest.mark.parametrize(
    "camera", [Perspective((120.0, 120.0), (44.5, 44.5)), Orthographic((44.5, 44.5))]
)
@pytest.mark.parametrize("volume", [0.047, 0.2])
def test_it_is_the_start_of_a_run(camera, volume):
    mask = pear()
    small = silhouette(mask, camera)
    rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
    shown = small.depth(volume)[small.shown]
    exact = balloon_start(camera, Domain(mask), BalloonOptions(volume=volume)).depth
    assert small.shown.sum() == mask.sum()
    assert rows[0] > 0
    assert columns[0] > 0
    thickness = np.ptp(exact)
    # volumes between two steps are interpolated
    np.testing.assert_allclose(shown - shown.mean(), exact - exact.mean(), atol=0.012 * thickness)


def test_more_volume_is_thicker_up_to_what_the_outline_holds():
    small = silhouette(pear(), PERSPECTIVE)
    thickness = [np.nanmax(d) - np.nanmin(d) for d in map(small.depth, (0, 0.1, 0.2, 0.3))]
    assert np.all(np.diff(thickness) > 0)
    np.testing.assert_array_equal(small.depth(5.0), small.depth(small.largest))


def test_a_mask_without_an_inside_has_no_balloon():
    mask = np.zeros((40, 40), bool)
    mask[20, 5:35] = True
    assert silhouette(mask, Perspective((50.0, 50.0), (20.0, 20.0))) is None
