from dataclasses import replace

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.io.archive import load_reconstruction
from anylight.metrics import evaluate
from anylight.model.reconstruction import Reconstruction, outside_nan


def bowl(camera, sign=1.0):
    """A bulge (or, with sign −1, a bowl) over a disc."""
    v, u = np.mgrid[:41, :41]
    mask = (u - 20) ** 2 + (v - 20) ** 2 < 300
    depth = 100 + sign * 0.02 * ((u - 20.0) ** 2 + (v - 20.0) ** 2)
    normals = depth_normals(camera, depth, mask, "neumann")
    return outside_nan(depth, mask), normals, mask


@pytest.fixture
def truth(rng):
    camera = Perspective((400.0, 400.0), (20.0, 20.0))
    depth, normals, mask = bowl(camera)
    albedo = outside_nan(rng.random((41, 41, 3)), mask)
    return Reconstruction(mask, camera, depth, normals, albedo, rng.standard_normal((6, 3, 31)))


def test_the_truth_against_itself_is_perfect(truth):
    metrics = evaluate(truth, truth)
    assert metrics.coverage == 1.0
    for name in metrics.__struct_fields__:
        if name != "coverage":
            assert getattr(metrics, name) == pytest.approx(0, abs=1e-6), name


def test_scales_that_cannot_be_known_cost_nothing(truth):
    channel = np.array([2.0, 0.5, 3.0])
    result = replace(
        truth,
        depth=7.0 * truth.depth,
        albedo=truth.albedo * channel,
        lighting=truth.lighting / channel[:, None],
    )
    metrics = evaluate(result, truth)
    for name in ("depth_rmse", "albedo_rmse", "lighting_error", "mae_fd_deg"):
        assert getattr(metrics, name) == pytest.approx(0, abs=1e-6), name


def test_a_rotation_costs_its_angle(truth):
    c, s = np.cos(np.deg2rad(20)), np.sin(np.deg2rad(20))
    axis_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    flat = np.where(truth.mask[..., None], [0.0, 0.0, -1.0], np.nan)
    result = replace(truth, normals=flat @ tilt.T @ axis_z.T)
    metrics = evaluate(result, replace(truth, normals=flat))
    assert metrics.mae_deg == pytest.approx(20)
    assert metrics.median_deg == pytest.approx(20)


@pytest.mark.parametrize("camera", [Perspective((1e6, 1e6), (20.0, 20.0)), Orthographic((20, 20))])
def test_the_flip_oracle_forgives_a_bowl(camera):
    depth, normals, mask = bowl(camera)
    truth = Reconstruction(mask, camera, depth, normals)
    flip_depth, flip_normals, _ = bowl(camera, -1.0)
    metrics = evaluate(Reconstruction(mask, camera, flip_depth, flip_normals), truth)
    steep = 20 if isinstance(camera, Orthographic) else 80  # degrees; at f = 10⁶ px nearly grazing
    assert metrics.mae_deg > steep
    assert metrics.mae_fd_deg > steep
    assert metrics.mae_flip_deg == pytest.approx(0, abs=1e-2)
    assert metrics.mae_fd_flip_deg == pytest.approx(0, abs=1e-2)


def test_lacking_pixels_count_ninety_degrees(truth):
    lacking = Domain(truth.mask).scatter(np.arange(truth.mask.sum()) % 4 == 0, fill=0).astype(bool)
    normals, depth = truth.normals.copy(), truth.depth.copy()
    normals[lacking], depth[lacking] = np.nan, np.nan
    metrics = evaluate(replace(truth, normals=normals, depth=depth), truth)
    share = lacking[truth.mask].mean()
    assert metrics.coverage == pytest.approx(1 - share)
    assert metrics.mae_deg == pytest.approx(90 * share)
    assert metrics.mae_fd_deg > 90 * share  # neighbours of the holes lose slope too


def test_a_smaller_mask_does_not_help(truth):
    small = truth.mask & (np.arange(41) < 20)[:, None]
    result = replace(
        truth,
        mask=small,
        normals=outside_nan(truth.normals, small),
        depth=outside_nan(truth.depth, small),
        albedo=outside_nan(truth.albedo, small),
    )
    assert evaluate(result, truth).mae_deg > 40


def test_what_is_unknown_is_none(truth):
    bare = Reconstruction(truth.mask, None, normals=truth.normals)
    metrics = evaluate(bare, truth)
    assert metrics.mae_deg == pytest.approx(0, abs=1e-6)
    for name in ("mae_fd_deg", "mae_fd_flip_deg", "depth_rmse", "albedo_rmse", "lighting_error"):
        assert getattr(metrics, name) is None, name


def test_lighting_of_a_subset_of_photos(truth):
    result = replace(truth, lighting=truth.lighting[[1, 4]], photos=np.array([1, 4]))
    assert evaluate(result, truth).lighting_error == pytest.approx(0, abs=1e-9)
    assert evaluate(replace(result, photos=None), truth).lighting_error is None


def test_lighting_of_first_order_lacks_the_second(truth):
    error = evaluate(replace(truth, lighting=truth.lighting[:, :, :4]), truth).lighting_error
    second = (truth.lighting[:, :, 4:9] ** 2).sum() / (truth.lighting[:, :, :9] ** 2).sum()
    assert error == pytest.approx(np.sqrt(second))


def test_angles_are_symmetric_and_exact(rng):
    a = rng.standard_normal((100, 3))
    b = rng.standard_normal((100, 3))
    assert np.allclose(angles_deg(a, b), angles_deg(b, a))
    assert np.allclose(angles_deg(a, a), 0, atol=1e-6)
    assert np.allclose(angles_deg(a, -a), 180)
    tiny = np.array([[1.0, 1e-9, 0.0]])
    assert angles_deg(np.array([[1.0, 0.0, 0.0]]), tiny)[0] == pytest.approx(np.rad2deg(1e-9))


def test_forward_difference_metric_by_hand():
    # One row of three pixels: slopes 0.1, 0.2 and, the next pixel missing, 0.
    camera = Orthographic((0.0, 0.0))
    mask = np.ones((1, 3), bool)
    truth = Reconstruction(mask, camera, np.array([[0.0, 0.1, 0.3]]))
    result = Reconstruction(mask, camera, np.zeros((1, 3)))
    expected = np.rad2deg(np.arctan([0.1, 0.2, 0.0])).mean()
    assert evaluate(result, truth).mae_fd_deg == pytest.approx(expected)


def test_another_grid_is_refused(truth):
    with pytest.raises(InvalidInputError, match="full input grid"):
        evaluate(Reconstruction(np.ones((5, 5), bool)), truth)


def one_row(**fields):
    mask = np.ones((1, 4), bool)
    return Reconstruction(mask, Perspective((10.0, 10.0), (0.0, 0.0)), **fields)


def test_depth_by_hand():
    truth = one_row(depth=np.array([[2.0, 2.0, 4.0, 4.0]]))
    result = one_row(depth=np.array([[1.0, 1.0, 2.0, 4.0]]))
    # medians 3 and 1.5: ratio 2, errors 0 0 0 4, root of the mean square 2, mean depth 3
    assert evaluate(result, truth).depth_rmse == pytest.approx(2 / 3)


def test_depth_behind_the_camera_is_none():
    truth = one_row(depth=np.array([[2.0, 2.0, 4.0, 4.0]]))
    metrics = evaluate(one_row(depth=-truth.depth), truth)
    assert metrics.depth_rmse is None
    assert metrics.coverage == 0
    assert metrics.mae_fd_deg == 90


def test_albedo_by_hand():
    truth = one_row(albedo=np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1))
    result = one_row(albedo=np.array([2.0, 2.0, 2.0, 2.0]).reshape(1, 4, 1))
    # best scale 1.25: errors 1.5, 0.5, −0.5, −1.5
    assert evaluate(result, truth).albedo_rmse == pytest.approx(np.sqrt(5 / 4))


def test_median_and_mean_by_hand():
    angle = np.deg2rad([0.0, 10.0, 20.0, 90.0])
    normals = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], -1)[None]
    truth = one_row(normals=np.broadcast_to([0.0, 0.0, -1.0], (1, 4, 3)).copy())
    metrics = evaluate(one_row(normals=normals), truth)
    assert metrics.mae_deg == pytest.approx(30)
    assert metrics.median_deg == pytest.approx(15)


def test_zero_normals_are_lacking():
    truth = one_row(normals=np.broadcast_to([0.0, 0.0, -1.0], (1, 4, 3)).copy())
    metrics = evaluate(one_row(normals=np.zeros((1, 4, 3))), truth)
    assert metrics.mae_deg == 90
    assert metrics.coverage == 0


def test_holes_of_the_truth_do_not_count(truth):
    depth, normals = truth.depth.copy(), truth.normals.copy()
    depth[18:22, 18:22] = np.nan
    normals[18:22, 18:20] = np.nan
    normals[18:22, 20:22] = 0
    holey = replace(truth, depth=depth, normals=normals)
    metrics = evaluate(holey, holey)
    assert metrics.mae_deg == pytest.approx(0, abs=1e-6)
    assert metrics.mae_fd_deg == pytest.approx(0, abs=1e-6)


def test_a_larger_mask_changes_nothing(truth):
    v, u = np.mgrid[:41, :41]
    everywhere = np.ones_like(truth.mask)
    depth = 100 + 0.02 * ((u - 20.0) ** 2 + (v - 20.0) ** 2)
    result = Reconstruction(everywhere, truth.camera, depth)
    assert evaluate(result, truth).mae_fd_deg == pytest.approx(0, abs=1e-6)


def test_what_lies_outside_the_results_mask_is_lacking(truth):
    half = truth.mask & (np.arange(41) < 20)[:, None]
    metrics = evaluate(replace(truth, mask=half), truth)
    assert metrics.coverage == pytest.approx(half.sum() / truth.mask.sum())
    assert metrics.mae_deg == pytest.approx(90 * (1 - metrics.coverage), rel=1e-6)


def test_real_truths_against_themselves(shared_data):
    for name in ("ball", "bear", "cat"):
        truth = load_reconstruction(shared_data / "real" / "diligent_mixed" / name / "gt.npz")
        metrics = evaluate(truth, truth)
        assert metrics.mae_deg == pytest.approx(0, abs=1e-4)
        assert metrics.mae_fd_deg is None or metrics.mae_fd_deg == pytest.approx(0, abs=1e-4)
