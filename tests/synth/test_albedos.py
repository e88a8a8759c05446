import numpy as np
import pytest

from anylight.synth.albedos import (
    ALBEDO_NAMES,
    CONSTANT_COLOUR,
    NUM_BARS,
    NUM_CELLS,
    NUM_GRAINS,
    PATTERN_PERIODS,
    RECTCIRCLE_COLOURS,
    albedo_painter,
)

SIZE = 512


def painted(kind, seed=0):
    s, t = np.meshgrid((np.arange(SIZE) + 0.5) / SIZE, (np.arange(SIZE) + 0.5) / SIZE)
    return albedo_painter(kind, seed)(s.ravel(), t.ravel()).reshape(SIZE, SIZE, 3)


def colours(image):
    return len(np.unique(image.reshape(-1, 3), axis=0))


def radial_spectrum(image):
    grey = image.mean(-1)
    power = np.abs(np.fft.fftshift(np.fft.fft2(grey - grey.mean())))
    v, u = np.mgrid[:SIZE, :SIZE] - SIZE // 2
    radius = np.hypot(u, v).astype(int)
    return np.bincount(radius.ravel(), power.ravel()) / np.bincount(radius.ravel())


@pytest.mark.parametrize("kind", ALBEDO_NAMES)
def test_albedos_are_reflectances_and_repeat(kind):
    image = painted(kind)
    assert image.min() > 0.05
    assert image.max() <= 1
    assert np.array_equal(image, painted(kind))


@pytest.mark.parametrize("kind", sorted({*ALBEDO_NAMES} - {"white", "constant"}))
def test_the_seed_changes_the_painting(kind):
    assert not np.array_equal(painted(kind, 0), painted(kind, 1))


def test_the_nine_of_the_paper():
    assert ALBEDO_NAMES == (
        "bars", "constant", "ebsd", "hippie", "natural", "pattern", "rectcircle", "voronoi", "white"
    )  # fmt: skip


def test_white_is_one():
    assert (painted("white") == 1).all()


def test_constant_is_one_colour_that_is_not_grey():
    image = painted("constant")
    assert colours(image) == 1
    assert len(set(CONSTANT_COLOUR)) == 3


def test_bars_are_vertical_and_twelve():
    image = painted("bars")
    assert colours(image) == NUM_BARS
    assert (image == image[:1]).all()


def test_voronoi_has_its_cells():
    assert colours(painted("voronoi")) == NUM_CELLS


def test_ebsd_has_hundreds_of_saturated_grains():
    image = painted("ebsd")
    assert NUM_GRAINS / 2 < colours(image) <= NUM_GRAINS
    saturation = 1 - image.min(-1) / image.max(-1)
    assert np.median(saturation) > 0.6


def test_rectcircle_has_a_handful_of_colours():
    assert colours(painted("rectcircle")) == len(RECTCIRCLE_COLOURS)


def test_hippie_runs_smoothly_through_all_hues():
    image = painted("hippie")
    centred = image - image.mean(-1, keepdims=True)
    hue = np.arctan2(
        np.sqrt(3) * (centred[..., 1] - centred[..., 2]),
        2 * centred[..., 0] - centred[..., 1] - centred[..., 2],
    )
    counts, _ = np.histogram(hue, 12, (-np.pi, np.pi))
    assert counts.min() > 0.02 * hue.size
    # one point, the centre of the swirl, has every hue at once
    assert np.quantile(np.abs(np.diff(image, axis=1)), 0.999) < 0.12


def test_natural_falls_off_like_one_over_frequency():
    spectrum = radial_spectrum(painted("natural"))
    frequency = np.arange(4, 128)
    slope, _ = np.polyfit(np.log(frequency), np.log(spectrum[4:128]), 1)
    assert -1.3 < slope < -0.8


def test_pattern_repeats_at_its_frequency():
    spectrum = np.abs(np.fft.fft2(painted("pattern").mean(-1)))
    spectrum[0, 0] = 0
    v, u = np.unravel_index(spectrum.argmax(), spectrum.shape)
    frequency = max(min(u, SIZE - u), min(v, SIZE - v))
    assert abs(frequency - PATTERN_PERIODS) <= 1
