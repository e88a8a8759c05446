import numpy as np
import pytest

from anylight.kernels.couplings import across, own
from anylight.photometry.harmonics import harmonics as harmonics_at
from anylight.photometry.products import products


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


@pytest.mark.twin("kernels.couplings._own")
@pytest.mark.parametrize("photos", [1, 7])
def test_pairs_of_photos(rng, photos):
    num, channels, made = 300, 2, products(2)
    normals = rng.standard_normal((3, num))
    normals /= np.linalg.norm(normals, axis=0)
    direction = rng.standard_normal((channels, photos, num)).astype(np.float32)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    weight = rng.random((channels, num)).astype(np.float32)
    functions = made.functions(normals).astype(np.float32)
    size = photos * len(made.place)
    whole = np.full((channels, size + 2, size), -5, np.float32)
    own(direction, weight, functions, made.single, made.place, whole)
    assert (whole[:, size:] == -5).all()
    found = whole[:, :size]
    terms = harmonics_at(normals.T, 2)
    for c in range(channels):
        across = np.eye(photos)[..., None] - np.einsum("in,jn->ijn", direction[c], direction[c])
        wanted = np.einsum("ijn,n,nk,nl->ikjl", across, weight[c], terms, terms)
        wanted = wanted.reshape(found[c].shape)
        lower, tolerance = np.tril(found[c]), 1e-3 * np.abs(wanted).max()
        np.testing.assert_allclose(lower, np.tril(wanted), atol=tolerance)
