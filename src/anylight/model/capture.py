"""A capture: photographs of one object from one viewpoint under changing light."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from anylight.arrays import DepthMap, Mask, Photos
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic, Perspective
from anylight.geometry.domain import Domain

MIN_PHOTOS = 3
GUESSED_35MM = 50.0
"""Focal length to assume where nothing is known, on the longer side of a 36 mm frame."""
_LEAST_KNOWN = 0.05
"""Share of the object that a known depth must cover."""


@dataclass(frozen=True, eq=False)
class Capture:
    """Photos in linear radiance, the object's mask and the camera. Arrays are read-only.

    Integer photos stay integers: radiance is `photos / full_scale`.
    """

    photos: Photos
    """As the camera delivered them: uint8, uint16 or float32, but linear."""
    mask: Mask
    camera: Camera
    names: tuple[str, ...] = ()
    """File name of every photo, if it came from files."""
    exposures: tuple[float, ...] = ()
    """Exposure of every photo relative to the first, if known: light is stored value / exposure."""
    depth: DepthMap | None = None
    """Depth along the optical axis that is known already, NaN where it is not."""
    unit: Literal["mm"] | None = None
    """Unit of that depth."""
    lights: Float[np.ndarray, "M 3"] | None = None
    """Direction to the one lamp of every photo times its strength, camera frame, if somebody
    measured it; only calibrated methods look at it."""
    start: DepthMap | None = None
    """A guess of the depth to start from, for methods that take one."""
    lens_known: bool = True
    """False if nothing says which lens took the photos: the camera is then a guess (50 mm on 35 mm
    film), which the default method replaces by what the photos support best."""

    def __post_init__(self) -> None:
        _check_kinds(self)
        if len(self.photos) < MIN_PHOTOS:
            raise InvalidInputError(
                f"{len(self.photos)} photo(s) are too few: at least {MIN_PHOTOS} are needed, "
                "10 to 25 under clearly different light work best."
            )
        if self.mask.shape != self.photos.shape[1:3]:
            raise InvalidInputError(
                f"the mask is {_size(self.mask.shape)} but the photos are "
                f"{_size(self.photos.shape[1:3])}: make them the same size."
            )
        if self.depth is not None:
            _check_depth(self)
        if not self.mask.any():
            raise InvalidInputError("the mask is empty: paint the object white.")
        _check_numbers(self)
        for name in ("photos", "mask", "depth", "lights", "start"):
            if getattr(self, name) is not None:
                own = getattr(self, name).view()
                own.setflags(write=False)
                object.__setattr__(self, name, own)

    def __repr__(self) -> str:
        height, width = self.mask.shape
        return (
            f"Capture({self.num_photos} photos of {width}×{height}, {self.photos.dtype}, "
            f"{np.count_nonzero(self.mask)} pixels on the object, {self.camera})"
        )

    def some(self, photos: Int[np.ndarray, " m"]) -> "Capture":
        """The capture with some of its photos only."""
        if np.array_equal(photos, np.arange(self.num_photos)):
            return self
        return replace(
            self,
            photos=np.ascontiguousarray(self.photos[photos]),
            names=tuple(self.names[i] for i in photos) if self.names else (),
            exposures=tuple(self.exposures[i] for i in photos) if self.exposures else (),
            lights=None if self.lights is None else self.lights[photos],
        )

    @property
    def full_scale(self) -> float:
        """Stored value that means a radiance of one."""
        dtype = self.photos.dtype
        return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0

    @property
    def num_photos(self) -> int:
        """Number of photos M."""
        return self.photos.shape[0]

    @property
    def num_channels(self) -> int:
        """Number of channels C."""
        return self.photos.shape[3]

    def domain(self) -> Domain:
        """The masked pixels."""
        return Domain(self.mask)

    def radiance(self) -> Float[np.ndarray, "M C P"]:
        """Linear radiance of the masked pixels in float64."""
        masked = self.photos[:, self.mask, :] / self.full_scale
        return np.moveaxis(masked, 2, 1)


def _check_kinds(capture: Capture) -> None:
    """Refuse what is not an array of the right kind, before anything is computed with it."""
    photos, mask = capture.photos, capture.mask
    if not isinstance(photos, np.ndarray) or photos.dtype not in (np.uint8, np.uint16, np.float32):
        found = getattr(photos, "dtype", type(photos).__name__)
        raise InvalidInputError(
            f"photos must be an array of uint8, uint16 or float32, not {found}; "
            "anylight.make_capture converts other types."
        )
    if photos.ndim != 4:
        raise InvalidInputError(
            f"photos must have four axes (photos, rows, columns, channels), not {photos.ndim}; "
            "grey photos have one channel: photos[..., None]."
        )
    if not isinstance(mask, np.ndarray) or mask.dtype != bool:
        found = getattr(mask, "dtype", type(mask).__name__)
        raise InvalidInputError(f"the mask must be an array of bool, not {found}: write mask > 0.")
    for name in ("depth", "lights", "start"):
        given = getattr(capture, name)
        if given is not None and not (isinstance(given, np.ndarray) and given.dtype.kind == "f"):
            raise InvalidInputError(f"{name} must be an array of floats, not {_kind(given)}.")
        if given is not None and given.ndim != 2:
            raise InvalidInputError(f"{name} must have two axes, not {given.ndim}.")
    if capture.lights is not None and capture.lights.shape != (len(photos), 3):
        raise InvalidInputError(f"lights must be {len(photos)} directions (photos, 3).")
    for name in ("names", "exposures"):
        given = getattr(capture, name)
        if not isinstance(given, tuple) or len(given) not in (0, len(photos)):
            raise InvalidInputError(f"{name} must be a tuple with one for each photo, or empty.")
    if not all(np.isfinite(value) and value > 0 for value in capture.exposures):
        raise InvalidInputError("exposures must be positive numbers.")
    if not isinstance(capture.camera, Perspective | Orthographic):
        raise InvalidInputError(
            f"the camera must be a Perspective or an Orthographic, not {_kind(capture.camera)}; "
            "Perspective.from_K makes one of a matrix K."
        )


def _kind(value: object) -> str:
    return "an array" if isinstance(value, np.ndarray) else type(value).__name__


def _check_numbers(capture: Capture) -> None:
    """Refuse float photos that hold no light, and starts that are no surface."""
    if capture.photos.dtype.kind == "f":
        for index, photo in enumerate(capture.photos):
            inside = photo[capture.mask]
            if not (np.isfinite(inside).all() and inside.min() >= 0):
                name = capture.names[index] if capture.names else f"photo {index}"
                raise InvalidInputError(
                    f"{name}: holds negative, NaN or infinite pixels on the object; mask them out."
                )
    if capture.start is None:
        return
    if capture.start.shape != capture.mask.shape:
        raise InvalidInputError(
            f"the start is {_size(capture.start.shape)} but the photos are "
            f"{_size(capture.mask.shape)}."
        )
    inside = capture.start[capture.mask]
    if not np.isfinite(inside).all():
        raise InvalidInputError("the start has holes inside the mask; fill them first.")
    if isinstance(capture.camera, Perspective) and inside.min() <= 0:
        raise InvalidInputError("the start has depths that are not positive inside the mask.")


def _check_depth(capture: Capture) -> None:
    assert capture.depth is not None
    if capture.depth.shape != capture.mask.shape:
        raise InvalidInputError(
            f"the known depth is {_size(capture.depth.shape)} but the photos are "
            f"{_size(capture.mask.shape)}: make them the same size."
        )
    if isinstance(capture.camera, Orthographic):
        raise InvalidInputError(
            "a known depth needs a perspective camera: parallel rays measure depth in pixels."
        )
    known = np.isfinite(capture.depth) & (capture.depth > 0)
    object.__setattr__(capture, "depth", np.where(known, capture.depth, np.nan))
    share = known[capture.mask].mean() if capture.mask.any() else 1.0
    if share < _LEAST_KNOWN:
        raise InvalidInputError(
            f"the known depth covers {100 * share:.1f} % of the object: too little to be of use."
        )


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]}×{shape[0]}"
