"""The compiled passes against plain NumPy, and derivatives against finite differences."""

import numpy as np
import pytest

from anylight.kernels import elimination

CHANNELS, EACH, NUM = 3, 5, 40


def project(rows, direction):
    unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    return rows - unit * (rows * unit).sum(axis=-1, keepdims=True)


@pytest.fixture
def data(rng):
    parts = rng.random((4, NUM, CHANNELS * EACH)).astype(np.float32) + 0.2
    return (*parts, rng.random(NUM).astype(np.float32))


def split(array):
    return array.reshape(len(array), CHANNELS, EACH).astype(float)


def plain_albedo(photos, shading):
    return (split(photos) * split(shading)).sum(-1) / (split(shading) ** 2).sum(-1)


@pytest.mark.twin("kernels.elimination.residuals")
def test_the_albedo_is_best_and_the_residual_perpendicular(data):
    photos, shading, *_ = data
    albedo, misfit = np.empty((NUM, CHANNELS), np.float32), np.empty(NUM, np.float32)
    elimination.residuals(photos, shading, CHANNELS, albedo, misfit)
    wanted = plain_albedo(photos, shading)
    assert np.allclose(albedo, wanted, rtol=1e-5)
    rest = wanted[..., None] * split(shading) - split(photos)
    assert np.allclose(misfit, (rest**2).sum((1, 2)), rtol=1e-4)
    assert np.allclose((rest * split(shading)).sum(-1), 0, atol=1e-9)


@pytest.mark.twin("kernels.elimination.linearise")
def test_blocks_and_gradient_are_those_of_the_projected_derivatives(data):
    photos, shading, by_p, by_q, weight = data
    albedo = plain_albedo(photos, shading).astype(np.float32)
    blocks, slope = np.empty((3, NUM)), np.empty((2, NUM))
    source = np.empty_like(shading)
    elimination.linearise(
        photos, shading, by_p, by_q, weight, CHANNELS, albedo, blocks, slope, source
    )
    rho = albedo[..., None].astype(float)
    moves = [rho * project(split(by), split(shading)) for by in (by_p, by_q)]
    rest = rho * split(shading) - split(photos)
    pairs = ((0, 0), (0, 1), (1, 1))
    for found, (a, b) in zip(blocks, pairs, strict=True):
        assert np.allclose(found, weight * (moves[a] * moves[b]).sum((1, 2)), rtol=1e-3, atol=1e-4)
    for found, move in zip(slope, moves, strict=True):
        assert np.allclose(found, weight * (move * rest).sum((1, 2)), rtol=1e-3, atol=1e-4)
    assert np.allclose(split(source), weight[:, None, None] * rho * rest, rtol=1e-3, atol=1e-4)


def test_the_gradient_is_the_derivative_of_the_misfit(data):
    photos, shading, by_p, by_q, _ = data
    weight = np.ones(NUM, np.float32)

    def misfit(step):
        moved = split(shading) + step * split(by_p)
        rho = (split(photos) * moved).sum(-1, keepdims=True) / (moved**2).sum(-1, keepdims=True)
        return ((rho * moved - split(photos)) ** 2).sum((1, 2))

    albedo = plain_albedo(photos, shading).astype(np.float32)
    blocks, slope = np.empty((3, NUM)), np.empty((2, NUM))
    elimination.linearise(
        photos, shading, by_p, by_q, weight, CHANNELS, albedo, blocks, slope, np.empty_like(shading)
    )
    numeric = (misfit(1e-5) - misfit(-1e-5)) / 2e-5
    assert np.allclose(2 * slope[0], numeric, rtol=2e-3, atol=1e-4)


@pytest.mark.twin("kernels.elimination.normal_product")
def test_the_normal_product_is_the_normal_matrix(data, rng):
    _, shading, by_p, by_q, weight = data
    albedo = rng.random((NUM, CHANNELS)).astype(np.float32)
    change = rng.standard_normal(shading.shape).astype(np.float32)
    p, q = rng.standard_normal((2, NUM))
    slope, source = np.empty((2, NUM)), np.empty_like(shading)
    elimination.normal_product(
        shading, by_p, by_q, change, weight, CHANNELS, albedo, p, q, slope, source
    )
    rho = albedo[..., None].astype(float)
    total = split(change) + p[:, None, None] * split(by_p) + q[:, None, None] * split(by_q)
    moved = weight[:, None, None] * rho**2 * project(total, split(shading))
    assert np.allclose(split(source), moved, rtol=1e-3, atol=1e-4)
    for found, by in zip(slope, (by_p, by_q), strict=True):
        assert np.allclose(found, (split(by) * moved).sum((1, 2)), rtol=1e-3, atol=1e-3)
