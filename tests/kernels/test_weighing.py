"""How much facets count, against the geometry's readable formulas."""

import numpy as np
import pytest

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import d_normal_d_slope, normals_from_slopes
from anylight.kernels import weighing

NUM, SCALE = 5000, 0.04


@pytest.mark.twin("kernels.weighing._metric", "kernels.weighing.weigh")
@pytest.mark.parametrize(
    "camera", [Perspective((40.0, 44.0), (9.3, 7.1)), Orthographic((3.0, 4.0))]
)
def test_metric_weights_and_pull(rng, camera):
    pixels = rng.integers(0, 20, (NUM, 2)).astype(np.int32)
    size = 0.02 if isinstance(camera, Perspective) else 0.6
    now, wanted = (size * rng.standard_normal((2, 2, NUM))).astype(np.float32)
    cover = rng.random(NUM).astype(np.float32)
    unit = normals_from_slopes(camera, pixels, wanted.T.astype(float)).T
    x, y = camera.numbers[2:] if camera.numbers[0] > 0 else (0, 0)
    fu, fv = camera.numbers[:2] if camera.numbers[0] > 0 else (1, 1)
    tilted = [fu * wanted[0], fv * wanted[1], np.full(NUM, -1.0)]
    if camera.numbers[0] > 0:
        tilted[2] += (x - pixels[:, 0]) * wanted[0] + (y - pixels[:, 1]) * wanted[1]
    length = np.linalg.norm(tilted, axis=0).astype(np.float32)
    form = weighing.metric(unit.astype(np.float32), length, camera.numbers, pixels)
    turns = d_normal_d_slope(camera, pixels, wanted.T.astype(float))
    expected = np.stack(
        [(turns[..., a] * turns[..., b]).sum(axis=1) for a, b in ((0, 0), (0, 1), (1, 1))]
    )
    assert np.allclose(form, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).mean())
    blocks, pull = np.empty((3, NUM), np.float32), np.empty((2, NUM), np.float32)
    weight = np.empty(NUM, np.float32)
    weighing.weigh(
        now, camera.numbers, pixels, unit.astype(np.float32), form, cover, SCALE, wanted, blocks,
        pull, weight,
    )  # fmt: skip
    off = normals_from_slopes(camera, pixels, now.T.astype(float)).T - unit
    share = 1 / (1 + (off**2).sum(axis=0) / SCALE)
    assert np.allclose(weight, share, rtol=1e-4)
    assert np.allclose(blocks, form * share * cover, rtol=1e-3)
    uu, uv, vv = blocks.astype(float)
    p, q = wanted
    assert np.allclose(pull, [uu * p + uv * q, uv * p + vv * q], rtol=1e-3, atol=1e-5 * uu.max())
