"""Images computed band by band."""

import numpy as np

from anylight.geometry import bands
from anylight.threads import use_threads


def test_every_masked_pixel_is_filled_and_no_other(rng, monkeypatch):
    monkeypatch.setattr(bands, "_PIXELS", 40)
    mask, values = rng.random((53, 17)) < 0.4, rng.random((53, 17, 3))
    mask[20:30] = False
    wanted = np.where(mask[..., None], values, -1)
    for threads in (1, 2):
        use_threads(threads)
        image = np.full(values.shape, -1.0)
        bands.fill(image, mask, lambda rows, inside: values[rows][inside])
        assert np.array_equal(image, wanted)
    use_threads(None)


def test_bands_cover_all_rows():
    for shape in ((1, 1), (7, 100_000), (1000, 300), (5, 0)):
        rows = [row for band in bands.bands(shape) for row in range(shape[0])[band]]
        assert rows == list(range(shape[0]))


def test_a_pixel_is_finite_if_all_its_numbers_are(rng):
    image = rng.random((9, 8, 3))
    image[2, 3, 1], image[4, 5, 0], image[6, 7] = np.nan, np.inf, -np.inf
    assert np.array_equal(bands.finite_pixels(image), np.isfinite(image).all(axis=-1))
