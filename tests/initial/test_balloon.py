import numpy as np
import pytest
from scipy.optimize import brentq

from anylight.geometry.differences import central
from anylight.geometry.domain import Domain
from anylight.initial.balloon import area, inflate
from tests.conftest import odd_mask


def disc(radius, margin=3):
    size = 2 * (radius + margin) + 1
    v, u = np.mgrid[:size, :size] - size // 2
    return u**2 + v**2 <= radius**2


def spherical_cap(radius, volume):
    """Height over the disc as a function of the distance from its centre."""
    height = brentq(lambda h: np.pi * h * (3 * radius**2 + h**2) / 6 - volume, 0, radius)
    sphere = (radius**2 + height**2) / (2 * height)
    return lambda r: np.sqrt(np.maximum(sphere**2 - r**2, 0)) - (sphere - height)


@pytest.mark.parametrize("mean_height", [5.0, 20.0])
def test_a_disc_inflates_to_the_spherical_cap(mean_height):
    domain = Domain(disc(50))
    balloon = inflate(domain, mean_height / np.sqrt(domain.size), 1e-5)
    centre = domain.mask.shape[0] // 2
    distance = np.linalg.norm(domain.pixels - centre, axis=1)
    # the height is zero at the centres of the rim pixels, half a pixel inside the disc
    rim = distance[domain.is_rim].mean()
    cap = spherical_cap(rim, mean_height * domain.size)
    error = balloon.height - np.maximum(cap(np.minimum(distance, rim)), 0)
    assert np.sqrt((error**2).mean()) < 0.6
    assert balloon.height.sum() == pytest.approx(mean_height * domain.size, rel=1e-6)
    assert balloon.volume[0] == pytest.approx(mean_height / np.sqrt(domain.size))


def test_no_checkerboard():
    domain = Domain(disc(50))
    height = domain.scatter(inflate(domain, 0.2, 1e-5).height, fill=0.0)
    v, u = np.mgrid[: height.shape[0], : height.shape[1]]
    sign = (-1.0) ** (u + v)
    smooth = (height[1:-1, 1:-1] * 4 - height[:-2, 1:-1] - height[2:, 1:-1]
              - height[1:-1, :-2] - height[1:-1, 2:])  # fmt: skip
    deep = Domain(disc(40, 13)).mask[1:-1, 1:-1]
    assert abs((smooth * sign[1:-1, 1:-1])[deep].mean()) < 1e-3


def test_it_bulges_to_the_camera():
    domain = Domain(disc(30))
    balloon = inflate(domain, 0.2)
    slope = central(domain, "u").apply(balloon.height)
    right = domain.pixels[:, 0] > domain.mask.shape[1] * 0.7
    assert balloon.height.min() >= 0
    assert (slope[right] < 0).mean() > 0.95


@pytest.mark.parametrize("make", [lambda: disc(30), odd_mask])
def test_no_other_surface_of_that_volume_has_less_area(make, rng):
    domain = Domain(make())
    balloon = inflate(domain, 0.1, 1e-6)
    least = area(domain, balloon.height)
    free = ~domain.is_rim
    counts = np.bincount(domain.components[free], minlength=domain.num_components)
    for _ in range(30):
        change = np.where(free, rng.standard_normal(domain.size), 0.0)
        mean = np.bincount(domain.components, change, domain.num_components) / np.maximum(counts, 1)
        change -= np.where(free, mean[domain.components], 0.0)
        for size in (1e-2, 1e-1, 1.0):
            assert area(domain, balloon.height + size * change) > least - 1e-6 * least


def test_relative_volume_does_not_depend_on_resolution():
    peaks = []
    for radius in (25, 50, 100):
        domain = Domain(disc(radius))
        peaks.append(inflate(domain, 0.2, 1e-4).height.max() / radius)
    assert np.ptp(peaks) < 0.05 * np.mean(peaks)


def test_a_disc_is_full_at_its_hemisphere():
    for radius in (40, 80):
        domain = Domain(disc(radius))
        assert not inflate(domain, 0.35).is_capped.any()
        for much in (0.6, 5.0, 99.0):
            full = inflate(domain, much)
            assert full.is_capped.all()
            assert 0.35 < full.volume[0] < 0.40


def test_components_are_inflated_each_on_its_own():
    one = disc(20)
    mask = np.zeros((60, 160), bool)
    mask[5 : 5 + one.shape[0], 3 : 3 + one.shape[1]] = one
    small = disc(10)
    mask[10 : 10 + small.shape[0], 100 : 100 + small.shape[1]] = small
    mask[50, 10:30] = True  # too thin to inflate
    domain = Domain(mask)
    balloon = inflate(domain, 0.2, 1e-5)
    assert np.allclose(sorted(balloon.volume), [0, 0.2, 0.2], atol=1e-6)
    alone = inflate(Domain(one), 0.2, 1e-5).height
    together = domain.scatter(balloon.height)[5 : 5 + one.shape[0], 3 : 3 + one.shape[1]]
    assert np.allclose(together[one], alone, atol=1e-3)


def test_a_hole_is_part_of_the_silhouette():
    mask = disc(50)
    v, u = np.mgrid[: mask.shape[0], : mask.shape[1]] - mask.shape[0] // 2
    mask &= np.hypot(u - 15, v) > 8
    domain = Domain(mask)
    balloon = inflate(domain, 0.1, 1e-3)
    assert balloon.residual < 1e-3
    assert not balloon.is_capped.any()
    assert balloon.height.mean() == pytest.approx(0.1 * np.sqrt(domain.size))
    assert (balloon.height[domain.is_rim] == 0).all()


@pytest.mark.parametrize("mask", [np.ones((1, 1), bool), np.ones((1, 50), bool), odd_mask()])
@pytest.mark.parametrize("volume", [0.0, 0.1])
def test_odd_masks_and_no_volume(mask, volume):
    balloon = inflate(Domain(mask), volume)
    assert np.isfinite(balloon.height).all()
    if volume == 0:
        assert not balloon.height.any()
