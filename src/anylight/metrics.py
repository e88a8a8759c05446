"""How far a result is from the truth, up to what cannot be known.

All numbers are taken over the truth's mask. A pixel that the result lacks counts 90 degrees. What
cannot be computed is None.
"""

from dataclasses import replace

import msgspec
import numpy as np
from jaxtyping import Bool, Float

from anylight.arrays import Mask, NormalMap
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.model.reconstruction import Reconstruction, outside_nan
from anylight.model.result import Result, scene_of

_CONCAVE = np.array([-1.0, -1.0, 1.0])
"""Convex to concave and back (paper's code: the better of the two counts)."""
_LACKING_DEG = 90.0
_NUM_COMPARED_HARMONICS = 9


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of a reconstruction."""

    mae_deg: float | None
    """Mean angle between the result's normals and the true ones."""
    median_deg: float | None
    """Median of the same angles."""
    mae_flip_deg: float | None
    """mae_deg up to the convex/concave flip."""
    mae_fd_deg: float | None
    """Mean angle between forward-difference normals of both depths (the released code's metric:
    zero slope where the next pixel is missing)."""
    mae_fd_flip_deg: float | None
    """mae_fd_deg up to the flip."""
    coverage: float
    """Share of the true mask where the result has a normal (or a depth, if it has no normals)."""
    depth_rmse: float | None
    """Depth error after scaling by the median ratio, relative to the mean depth; orthographic:
    after the median shift, relative to the true depth's range."""
    albedo_rmse: float | None
    """Albedo error after one scale per channel."""
    lighting_error: float | None
    """Relative error of the harmonics up to l = 2, after one scale per channel."""


def evaluate(result: Reconstruction | Result, truth: Reconstruction) -> Metrics:
    """Measure a result."""
    result = scene_of(result)
    if result.mask.shape != truth.mask.shape:
        raise InvalidInputError(
            f"the result is {result.mask.shape[1]}×{result.mask.shape[0]} but the truth is "
            f"{truth.mask.shape[1]}×{truth.mask.shape[0]}: results must be on the full input grid."
        )
    result = _within(result, truth.mask)
    angles, flipped = _angles(result.normals, truth.normals, truth.mask)
    fd, fd_flipped = _angles(_forward_normals(result), _forward_normals(truth), truth.mask)
    return Metrics(
        mae_deg=_mean(angles),
        median_deg=None if angles is None else float(np.median(angles)),
        mae_flip_deg=_best(angles, flipped),
        mae_fd_deg=_mean(fd),
        mae_fd_flip_deg=_best(fd, fd_flipped),
        coverage=float(_present(result)[truth.mask].mean()),
        depth_rmse=_depth_rmse(result, truth),
        albedo_rmse=_albedo_rmse(result, truth),
        lighting_error=_lighting_error(result, truth),
    )


def _angles(
    result: NormalMap | None, truth: NormalMap | None, mask: Mask
) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]] | tuple[None, None]:
    """Angles as they are, and with the result flipped, where the truth is known."""
    if result is None or truth is None:
        return None, None
    known = mask & _is_direction(truth)
    if not known.any():
        return None, None
    estimate, exact = result[known], truth[known]
    direct, flipped = angles_deg(estimate, exact), angles_deg(estimate * _CONCAVE, exact)
    lacking = ~_is_direction(estimate)
    return np.where(lacking, _LACKING_DEG, direct), np.where(lacking, _LACKING_DEG, flipped)


def _is_direction(vectors: Float[np.ndarray, "*n 3"]) -> Bool[np.ndarray, "*n"]:
    """Finite and not zero."""
    return np.isfinite(vectors).all(axis=-1) & (np.abs(vectors).max(axis=-1) > 1e-6)


def _within(result: Reconstruction, mask: Mask) -> Reconstruction:
    """What a result says inside its own mask and the truth's; depth behind the camera is none."""
    both = result.mask & mask
    depth = result.depth
    if depth is not None:
        parallel = isinstance(result.camera, Orthographic)
        in_front = both & (parallel | (np.nan_to_num(depth, nan=-1.0) > 0))
        depth = outside_nan(depth, in_front)
    return replace(
        result,
        mask=both,
        depth=depth,
        normals=None if result.normals is None else outside_nan(result.normals, both),
        albedo=None if result.albedo is None else outside_nan(result.albedo, both),
    )


def _mean(angles: Float[np.ndarray, " P"] | None) -> float | None:
    return None if angles is None else float(angles.mean())


def _best(
    angles: Float[np.ndarray, " P"] | None, flipped: Float[np.ndarray, " P"] | None
) -> float | None:
    if angles is None or flipped is None:
        return None
    return float(min(angles.mean(), flipped.mean()))


def _forward_normals(scene: Reconstruction) -> NormalMap | None:
    if scene.depth is None or scene.camera is None:
        return None
    valid = scene.mask & np.isfinite(scene.depth)
    return depth_normals(scene.camera, scene.depth, valid, "neumann")


def _present(scene: Reconstruction) -> Mask:
    if scene.normals is not None:
        return _is_direction(scene.normals)
    return np.isfinite(scene.depth) if scene.depth is not None else np.zeros_like(scene.mask)


def _depth_rmse(result: Reconstruction, truth: Reconstruction) -> float | None:
    if result.depth is None or truth.depth is None:
        return None
    both = truth.mask & np.isfinite(result.depth) & np.isfinite(truth.depth)
    if not both.any():
        return None
    estimate, exact = result.depth[both], truth.depth[both]
    if isinstance(truth.camera, Orthographic):
        error = estimate - exact
        scale = float(np.ptp(exact))
        error = error - np.median(error)
    else:
        error = float(np.median(exact) / np.median(estimate)) * estimate - exact
        scale = float(exact.mean())
    rmse = float(np.sqrt((error**2).mean()) / scale) if scale else np.nan
    return rmse if np.isfinite(rmse) else None


def _albedo_rmse(result: Reconstruction, truth: Reconstruction) -> float | None:
    if result.albedo is None or truth.albedo is None:
        return None
    if result.albedo.shape != truth.albedo.shape:
        return None
    both = truth.mask & np.isfinite(result.albedo).all(-1) & np.isfinite(truth.albedo).all(-1)
    if not both.any():
        return None
    estimate, exact = result.albedo[both], truth.albedo[both]
    scale = _scales(estimate, exact, axis=0)
    return float(np.sqrt(((scale * estimate - exact) ** 2).mean()))


def _lighting_error(result: Reconstruction, truth: Reconstruction) -> float | None:
    if result.lighting is None or truth.lighting is None:
        return None
    exact = truth.lighting
    if result.photos is not None:
        if result.photos.max(initial=-1) >= len(exact):
            return None
        exact = exact[result.photos]
    estimate = _first_harmonics(result.lighting)
    exact = _first_harmonics(exact)
    if estimate.shape != exact.shape or not np.isfinite(estimate).all() or not exact.any():
        return None
    scale = _scales(estimate, exact, axis=(0, 2))
    error = scale[:, None] * estimate - exact
    return float(np.sqrt((error**2).sum() / (exact**2).sum()))


def _first_harmonics(lighting: Float[np.ndarray, "M C K"]) -> Float[np.ndarray, "M C 9"]:
    lacking = max(_NUM_COMPARED_HARMONICS - lighting.shape[2], 0)
    return np.pad(lighting[:, :, :_NUM_COMPARED_HARMONICS], ((0, 0), (0, 0), (0, lacking)))


def _scales(
    estimate: Float[np.ndarray, "*n"],
    exact: Float[np.ndarray, "*n"],
    axis: int | tuple[int, ...],
) -> Float[np.ndarray, " C"]:
    """Least-squares factor of each channel."""
    power = (estimate**2).sum(axis=axis)
    return (estimate * exact).sum(axis=axis) / np.where(power > 0, power, 1)
