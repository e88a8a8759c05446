"""What may be asked of the intake: one declaration for API, command line and saved record."""

from typing import Literal

import msgspec

from anylight.errors import InvalidInputError


class IntakeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to read photos, mask and camera; all of it is found out if nothing is given."""

    transfer: Literal["linear", "srgb"] | None = None
    """How stored values relate to light. Found out: JPEG is sRGB, RAW and float are linear, other
    files may say; of silent ones, 16 bit are linear and 8 bit are judged by their values."""
    mask: str | None = None
    """Mask: an image (white on the object), or a polygon "x1,y1 x2,y2 x3,y3 …" in pixels. Found
    out: mask.png of the folder, else made from the photos."""
    intrinsics: str | None = None
    """Camera file: K.txt, OpenCV YAML, or COLMAP cameras.txt. Found out: one in the folder, else
    EXIF."""
    focal_35mm: float | None = None
    """Focal length on 35 mm film, in mm."""
    focal_px: float | None = None
    """Focal length in pixels of the photos as they are."""
    fov: float | None = None
    """Angle of view along the longer side, in degrees."""
    distance: float | None = None
    """Distance from the lens to the middle of the object, in mm: tells the real size and, with
    --object-size, the perspective as well as a focal length does."""
    object_size: float | None = None
    """Longer side of the object as the photos show it (of the mask), in the unit of --distance."""
    orthographic: bool = False
    """Parallel rays: telecentric lens, scanner, or a lens so long that it hardly matters."""
    depth_prior: str | None = None
    """A depth you already have (sensor, MVS, laser), seen from this camera, at the photos' size, in
    mm: .exr, 16-bit .png, .tif, .pfm, .npy or .npz. Start, part of the energy, and scale."""
    downscale: int = 1
    """Average blocks of this many pixels per side, in linear light."""
    fit: bool = False
    """Average blocks as large as the free memory demands, rather than refuse photos that are too
    large for it."""
    crop: bool = False
    """Cut everything to the object; intrinsics follow."""
    align: bool = False
    """Undo small shifts of the camera between photos."""

    def __post_init__(self) -> None:
        if not 1 <= self.downscale <= 64:
            raise InvalidInputError("--downscale must be between 1 and 64.")
        for name, value, top in (
            ("--focal-35mm", self.focal_35mm, 1e5),
            ("--focal-px", self.focal_px, 1e9),
            ("--fov", self.fov, 179.0),
            ("--distance", self.distance, 1e9),
            ("--object-size", self.object_size, 1e9),
        ):
            if value is not None and not 0 < value < top:
                raise InvalidInputError(f"{name} must be between 0 and {top:g}.")
        if self.object_size is not None and self.distance is None:
            raise InvalidInputError("--object-size needs --distance, in the same unit.")
        if (self.distance or 0) < 0.5 * (self.object_size or 0):
            raise InvalidInputError(
                "--distance is less than half of --object-size: the lens would be inside the "
                "object; check the units."
            )
        named = [self.focal_35mm, self.focal_px, self.fov, self.intrinsics, self.object_size]
        if sum(value is not None for value in named) + self.orthographic > 1:
            raise InvalidInputError(
                "give only one of --intrinsics, --focal-35mm, --focal-px, --fov, "
                "--object-size, --orthographic."
            )
