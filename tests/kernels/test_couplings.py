import numpy as np
import pytest

from anylight.kernels.couplings import across


@pytest.mark.twin("kernels.couplings.across")
def test_sums_over_the_pixels(rng):
    modes, channels, photos, num, size = 5, 2, 3, 40, 4
    p, q = rng.standard_normal((2, modes, num)).astype(np.float32)
    by_p, by_q = rng.standard_normal((2, channels, photos, num)).astype(np.float32)
    weight = rng.random((channels, num)).astype(np.float32)
    harmonics = rng.standard_normal((num, size)).astype(np.float32)
    out = np.empty((modes, channels, photos, size), np.float32)
    across(p, q, by_p, by_q, weight, harmonics, out)
    change = np.einsum("mn,crn->mcrn", p, by_p) + np.einsum("mn,crn->mcrn", q, by_q)
    wanted = np.einsum("mcrn,cn,nk->mcrk", change, weight, harmonics)
    np.testing.assert_allclose(out, wanted, atol=1e-4)
