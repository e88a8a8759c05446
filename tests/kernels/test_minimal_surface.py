"""The balloon's per-pixel parts against the formulas of Chan, Golub and Mulet in NumPy."""

import numpy as np
import pytest

from anylight.kernels.minimal_surface import advance_dual, linearise
from anylight.kernels.pixel_differences import neighbours


@pytest.fixture
def case(rng):
    inside = np.pad(rng.random((7, 8)) < 0.8, 1)
    near = neighbours(inside, backward=True)
    z, step = rng.standard_normal((2, inside.size)) * inside.ravel()
    dual = 0.6 * rng.standard_normal((2, inside.sum()))
    dual /= np.maximum(np.linalg.norm(dual, axis=0) / 0.9, 1)
    return z, step, near, dual


def gradient(values, near):
    here, along_u, along_v, sign_u, sign_v = near
    return np.stack(
        [sign_u * (values[along_u] - values[here]), sign_v * (values[along_v] - values[here])]
    )


@pytest.mark.twin("kernels.minimal_surface.linearise")
def test_blocks_and_flux(case):
    z, _, near, dual = case
    form, flux = np.zeros((6, dual.shape[1])), np.zeros((3, dual.shape[1]))
    linearise(z, near, dual, form, flux)
    g = gradient(z, near)
    length = np.sqrt(1 + (g**2).sum(axis=0))
    outer = dual[:, None] * g[None]
    blocks = (np.eye(2)[..., None] - (outer + outer.swapaxes(0, 1)) / (2 * length)) / length
    assert np.allclose(form[[3, 4, 5]], [blocks[0, 0], blocks[0, 1], blocks[1, 1]])
    assert np.allclose(form[:3], 0)
    assert np.allclose(flux[1:], g / length)


@pytest.mark.twin("kernels.minimal_surface.advance_dual")
def test_the_dual_follows_the_linearised_flux_and_stays_short(case):
    z, step, near, dual = case
    moved = dual.copy()
    advance_dual(z, step, near, moved)
    g, dg = gradient(z, near), gradient(step, near)
    length = np.sqrt(1 + (g**2).sum(axis=0))
    wanted = (g + dg) / length - dual * (g * dg).sum(axis=0) / length**2
    size = np.linalg.norm(wanted, axis=0)
    wanted *= np.where(size > 0.999, 0.999 / size, 1)
    assert np.allclose(moved, wanted)
    assert np.linalg.norm(moved, axis=0).max() < 1
