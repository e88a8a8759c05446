"""The depth a run starts from."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import ndimage
from scipy.optimize import minimize

from anylight.arrays import DepthMap, NormalMap
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic
from anylight.geometry.domain import Domain
from anylight.integration.smooth import height_normals, integrate_normals
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction

from .balloon import inflate
from .options import BalloonOptions

USUAL_VOLUME = 0.15
"""Relative volume of a balloon where nobody asks for another. (definition)"""
_UNCONVERGED = 0.1
"""Deviation from its equilibrium from which a balloon is worth a word. (definition)"""
_MEDIAN_SIDE = 7
"""Side of the median filter that takes strays off a known depth as a start. [pixels]"""
_START_BLUR = 0.015
"""Blur of a known depth as a start, relative to the object's side. [share]"""


@dataclass(frozen=True, eq=False)
class FirstDepth:
    """A first depth and what is worth saying about it."""

    depth: Float[np.ndarray, " P"]
    volumes: tuple[float, ...] = ()
    """Relative volume of every component, for a balloon."""
    warnings: tuple[str, ...] = ()


def balloon_start(
    camera: Camera,
    domain: Domain,
    options: BalloonOptions = BalloonOptions(),  # noqa: B008
) -> FirstDepth:
    """Inflate the silhouette, then bring it to the camera by integrating its normals.

    Args:
        camera: where it is seen from.
        domain: the silhouette.
        options: how much the balloon holds.
    """
    volume = USUAL_VOLUME if options.volume is None else options.volume
    wanted: float | np.ndarray = volume
    if options.volume_px is not None:
        wanted = options.volume_px / np.sqrt(np.bincount(domain.components))
        volume = float(wanted.max())
    balloon = inflate(domain, wanted)
    depth = integrate_normals(camera, domain, height_normals(domain, balloon.height))
    warnings = []
    if balloon.is_capped.any():
        largest = balloon.volume[balloon.is_capped].max()
        warnings.append(
            f"volume {volume:.3g} is more than a smooth balloon over this silhouette holds; "
            f"{balloon.is_capped.sum()} of {domain.num_components} component(s) capped, "
            f"the largest at {largest:.3g}."
        )
    if volume == 0:
        warnings.append(
            "a volume of zero starts from a plane, where shape, paint and light cannot be told "
            "apart; give the balloon some volume."
        )
    if balloon.residual > _UNCONVERGED:
        warnings.append(f"the balloon is {100 * balloon.residual:.0f} % away from its equilibrium.")
    is_flat = balloon.volume <= 0
    if volume > 0 and is_flat.any():
        warnings.append(
            f"{is_flat.sum()} of {domain.num_components} component(s) are too thin to inflate and "
            "start flat."
        )
    if domain.num_components > 1:
        warnings.append(
            f"the mask has {domain.num_components} separate pieces: each has its own free scale; "
            "all start at the same mean depth."
        )
    return FirstDepth(depth, tuple(float(v) for v in balloon.volume), tuple(warnings))


def constant_start(camera: Camera, domain: Domain) -> FirstDepth:
    """A plane in front of the camera: the paper's negative example."""
    value = 0.0 if isinstance(camera, Orthographic) else 1.0
    return FirstDepth(np.full(domain.size, value))


def given_start(camera: Camera, domain: Domain, given: DepthMap | NormalMap) -> FirstDepth:
    """FirstDepth from a depth map, or integrate a normal map."""
    _check_size(domain, given)
    values = domain.gather(given)
    if not np.isfinite(values).all():
        raise InvalidInputError("the start has holes inside the mask; fill them first.")
    if values.ndim == 2:
        return FirstDepth(integrate_normals(camera, domain, values))
    if isinstance(camera, Orthographic):
        return FirstDepth(values.astype(float))
    if values.min() <= 0:
        raise InvalidInputError("the start has depths that are not positive inside the mask.")
    return FirstDepth(values / values.mean())


def known_start(capture: Capture) -> Float[np.ndarray, " P"]:
    """The known depth as a start: gaps filled from the nearest pixel, strays and noise taken off.

    Photos are about slopes, and noise that hardly matters for a height ruins its slope.
    """
    assert capture.depth is not None
    mask = capture.mask
    is_gap = ~((capture.depth > 0) & mask)
    nearest = tuple(
        ndimage.distance_transform_edt(is_gap, return_distances=False, return_indices=True)
    )
    steady = ndimage.median_filter(capture.depth[nearest], _MEDIAN_SIDE)[nearest]
    width = max(1.0, _START_BLUR * np.sqrt(mask.sum()))
    share = ndimage.gaussian_filter(mask.astype(float), width)
    smooth: Float[np.ndarray, " P"] = ndimage.gaussian_filter(np.where(mask, steady, 0.0), width)[
        mask
    ]
    return smooth / share[mask]


def _check_size(domain: Domain, given: DepthMap | NormalMap) -> None:
    if given.shape[:2] != domain.mask.shape:
        raise InvalidInputError(
            f"the start is {given.shape[1]}×{given.shape[0]} but the photos are "
            f"{domain.mask.shape[1]}×{domain.mask.shape[0]}."
        )


def hemisphere_start(camera: Camera, domain: Domain, truth: Reconstruction) -> FirstDepth:
    """The paper's supplement: viewing rays meet the smallest ball around the true points."""
    if truth.depth is None or isinstance(camera, Orthographic):
        raise InvalidInputError("the hemisphere start needs a true depth and a perspective camera.")
    _check_size(domain, truth.depth)
    u, v = domain.pixels.T
    rays = camera.rays(u, v)
    points = rays * domain.gather(truth.depth)[:, None]
    if not np.isfinite(points).all():
        raise InvalidInputError("the true depth does not cover the mask.")
    centre, radius = enclosing_ball(points)
    along = rays @ centre
    square = (rays**2).sum(axis=1)
    inner = along**2 - square * (centre @ centre - radius**2)
    depth = (along - np.sqrt(np.maximum(inner, 0))) / square
    return FirstDepth(depth / depth.mean())


def enclosing_ball(points: Float[np.ndarray, "n 3"]) -> tuple[Float[np.ndarray, " 3"], float]:
    """Smallest ball around points, to about 1e-6 of its radius."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2

    def largest(c: np.ndarray) -> float:
        return float(((points - c) ** 2).sum(axis=1).max())

    for _ in range(3):
        found = minimize(
            largest, centre, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
        )
        centre = found.x
    return centre, float(np.sqrt(largest(centre)) * (1 + 1e-9))
