import numpy as np
import pytest

from anylight.geometry.camera import Perspective
from anylight.joint.problem.eigenphotos import averaged, compress
from anylight.model.capture import Capture
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

CAMERA = Perspective((60.0, 60.0), (15.0, 11.0))


def low_rank(rng, rank=4, num=9, shape=(24, 32), channels=2):
    maps = rng.random((rank, *shape, channels))
    mixes = rng.random((num, rank))
    photos = np.einsum("mr,rhwc->mhwc", mixes, maps) / rank
    return photos, np.ones(shape, bool)


def rebuilt(photos, num_channels):
    values = photos.values.reshape(len(photos.values), num_channels, -1)
    return np.einsum("pcr,cmr->mpc", values, photos.basis)


def test_photos_of_low_rank_are_kept_whole(rng):
    photos, mask = low_rank(rng)
    found = compress(Capture(photos.astype(np.float32), mask, CAMERA), 1.0, most=4)
    assert np.allclose(rebuilt(found, 2), photos[:, mask], atol=1e-5)
    assert found.bad_share == 0
    assert found.noise < 1e-4


def test_saturated_samples_are_filled_from_the_others(rng):
    photos, mask = low_rank(rng)
    stored = np.round(photos * 50000).astype(np.uint16)
    hurt = rng.random(stored.shape) < 0.05
    stored[hurt] = 65535
    found = compress(Capture(stored, mask, CAMERA), 50000.0, most=4)
    error = np.abs(rebuilt(found, 2) - photos[:, mask])
    assert found.bad_share == pytest.approx(hurt.mean())
    assert np.median(error[hurt[:, mask]]) < 0.01
    assert found.good.min() < 1


def test_noise_is_measured_and_averaged_away_but_not_edges(rng):
    truth = np.ones((12, 30, 40, 1)) * rng.random((12, 1, 1, 1)) + 0.2
    truth[:, :, 20:] *= 0.5
    noisy = truth + 0.01 * rng.standard_normal(truth.shape)
    capture = Capture(noisy.astype(np.float32), np.ones((30, 40), bool), CAMERA)
    found = compress(capture, 1.0)
    assert found.noise == pytest.approx(0.01, rel=0.25)
    calm = averaged(found, capture.domain())
    before, after = (
        rebuilt(photos, 1)[..., 0].reshape(12, 30, 40) - truth[..., 0] for photos in (found, calm)
    )
    assert after.std() < 0.4 * before.std()
    assert np.abs(after[:, :, 17:23]).max() < 0.05


def test_few_clean_photos_are_not_smeared():
    capture = render(SynthOptions(shape="bust", height=72, images=6)).capture
    white = float(capture.photos.max())
    found = compress(capture, white)
    truth = capture.photos[:, capture.mask] / white
    for photos, most in ((found, 2e-3), (averaged(found, capture.domain()), 4e-3)):
        error = rebuilt(photos, capture.num_channels) - truth
        assert np.sqrt((error**2).mean()) < most


def test_noise_is_seen_beside_a_black_photo(rng):
    truth = np.ones((12, 30, 40, 1)) * rng.random((12, 1, 1, 1)) * 20000 + 8000
    noisy = np.round(truth + 300 * rng.standard_normal(truth.shape)).astype(np.uint16)
    noisy[4] = 0
    found = compress(Capture(noisy, np.ones((30, 40), bool), CAMERA), 30000.0)
    assert found.noise == pytest.approx(0.01, rel=0.3)


def test_photos_without_noise_are_not_touched(rng):
    photos, mask = low_rank(rng)
    capture = Capture(photos.astype(np.float32), mask, CAMERA)
    found = compress(capture, 1.0, most=4)
    assert averaged(found, capture.domain()) is found
