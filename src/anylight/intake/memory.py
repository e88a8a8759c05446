"""A capture from arrays in memory, whatever their types."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Shaped
from numpy.typing import ArrayLike

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic, Perspective
from anylight.model.capture import Capture
from anylight.photometry.transfer import linear_from_srgb

from .intrinsics import FoundCamera, guessed_camera


def make_capture(  # noqa: PLR0913
    photos: ArrayLike,
    mask: ArrayLike | None = None,
    K: ArrayLike | None = None,  # noqa: N803
    *,
    camera: Camera | Literal["orthographic"] | None = None,
    transfer: Literal["linear", "srgb"] = "linear",
    depth: ArrayLike | None = None,
    start: ArrayLike | None = None,
    lights: ArrayLike | None = None,
    exposures: Sequence[float] = (),
) -> Capture:
    """Make a capture of arrays.

    Args:
        photos: (photos, rows, columns, channels), or without channels if grey, or a list of
            pictures; any type of integers or floats. Integers of up to 8 bits end at 255, others at
            65535; floats are radiance in any unit.
        mask: (rows, columns); what is above zero is object. All of it if not given.
        K: 3×3 intrinsics, pixel centres at integers.
        camera: instead of K; "orthographic" for parallel rays. Without both nothing says which lens
            it was: the default method tries several, others assume 50 mm on 35 mm film.
        transfer: how stored integers relate to light.
        depth: known already, along the optical axis; zero or NaN where it is not.
        start: a guess of the depth to start from.
        lights: (photos, 3), direction to the one lamp of every photo times its strength.
        exposures: of every photo relative to the first.
    """
    stack = _photos(photos)
    if transfer not in ("linear", "srgb"):
        raise InvalidInputError(f'transfer must be "linear" or "srgb", not {transfer!r}.')
    if transfer == "srgb" and stack.dtype.kind == "f":
        raise InvalidInputError("floats are linear by nature; give sRGB photos as integers.")
    if transfer == "srgb":
        stack = linear_from_srgb(stack)
    shape = (stack.shape[1], stack.shape[2])
    found = find_camera(shape, K, camera)
    return Capture(
        photos=stack,
        mask=np.ones(shape, bool) if mask is None else _mask(mask),
        camera=found.camera,
        lens_known=not found.guessed,
        exposures=_exposures(exposures),
        depth=None if depth is None else depth_map("depth", depth),
        lights=None if lights is None else _lights(lights, len(stack)),
        start=None if start is None else depth_map("start", start),
    )


def find_camera(
    shape: tuple[int, int],
    K: ArrayLike | None,  # noqa: N803
    camera: Camera | Literal["orthographic"] | None,
) -> FoundCamera:
    """The camera that was given, or a stated guess."""
    if K is not None and camera is not None:
        raise InvalidInputError("give K or camera, not both.")
    if K is not None:
        if isinstance(K, Perspective | Orthographic):
            return FoundCamera(K, "the caller")
        return FoundCamera(Perspective.from_K(K), "the caller")
    if camera is None:
        return guessed_camera(shape)
    if isinstance(camera, str):
        if camera != "orthographic":
            raise InvalidInputError(f'camera must be a camera or "orthographic", not {camera!r}.')
        return FoundCamera(Orthographic(((shape[1] - 1) / 2, (shape[0] - 1) / 2)), "the caller")
    if isinstance(camera, np.ndarray | list | tuple):
        raise InvalidInputError("camera is not a matrix: give intrinsics as K.")
    return FoundCamera(camera, "the caller")


def _array(name: str, values: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(f"{name}: all must have one size.") from error
    if array.dtype.kind not in "buif":
        raise InvalidInputError(f"{name}: must be numbers, not {array.dtype}.")
    return array


def _photos(values: ArrayLike) -> Shaped[np.ndarray, "M H W C"]:
    photos = _array("photos", values)
    if photos.ndim == 3:
        photos = photos[..., None]
    if photos.ndim != 4 or not photos.size:
        raise InvalidInputError(
            "photos must be (photos, rows, columns, channels), or (photos, rows, columns) if grey, "
            f"not {'×'.join(map(str, photos.shape)) or 'one number'}."
        )
    if photos.dtype.kind == "b":
        raise InvalidInputError("photos must be numbers, not bool.")
    if photos.dtype.kind == "f":
        return np.ascontiguousarray(photos, np.float32)
    if photos.dtype in (np.uint8, np.uint16):
        return photos
    low, high = int(photos.min()), int(photos.max())
    if low < 0 or high > 65535:
        raise InvalidInputError(
            f"photos hold integers from {low} to {high}; bring them to 0..65535, or make them "
            "floats."
        )
    return photos.astype(np.uint8 if photos.dtype == np.int8 else np.uint16)


def _mask(values: ArrayLike) -> Shaped[np.ndarray, "H W"]:
    mask = _array("mask", values)
    if mask.ndim != 2:
        raise InvalidInputError(f"the mask must have two axes, not {mask.ndim}.")
    if mask.dtype.kind == "f" and not np.isfinite(mask).all():
        raise InvalidInputError("the mask holds NaN or infinite values.")
    return mask > 0


def depth_map(name: str, values: ArrayLike) -> Shaped[np.ndarray, "H W"]:
    """A map of numbers, whatever it was given as."""
    image = _array(name, values).astype(float)
    if image.ndim != 2:
        raise InvalidInputError(f"{name} must have two axes (rows, columns), not {image.ndim}.")
    return image


def _exposures(values: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise InvalidInputError("exposures must be a list of numbers.") from error


def _lights(values: ArrayLike, num: int) -> Shaped[np.ndarray, "M 3"]:
    lights = _array("lights", values).astype(float)
    if lights.shape != (num, 3) or not np.isfinite(lights).all():
        raise InvalidInputError(f"lights must be {num} finite directions (photos, 3).")
    return lights
