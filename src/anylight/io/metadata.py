"""What a photo's file says besides its pixels: orientation, exposure, lens, coding."""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import OpenImageIO as oiio

from anylight.errors import InvalidInputError

from .images import attributes_of, error_of

Coding = Literal["linear", "srgb"]
"""How stored values relate to light."""

_MM_PER_UNIT = {2: 25.4, 3: 10.0, 4: 1.0, 5: 0.001}
"""EXIF resolution units: inch, centimetre, millimetre, micrometre."""
_LARGEST_MM = 10_000.0
_CICP_LINEAR = b"\x08"
"""Code of the linear transfer function in ITU-T H.273."""


@dataclass(frozen=True)
class Metadata:
    """Facts of one file; None where it does not say."""

    bits: int
    """Per stored sample; 32 for floats."""
    orientation: int = 1
    """EXIF orientation 1 to 8 still to be applied."""
    exposure: float | None = None
    """Seconds × ISO / f-number²: light-gathering, up to a factor common to a camera."""
    focal_mm: float | None = None
    focal_35mm: float | None = None
    """Focal length on a 36 mm wide frame with the same view."""
    pixels_per_mm: float | None = None
    """On the sensor, for a photo whose longer side is `sensor_width_px`."""
    sensor_width_px: int | None = None
    coding: Coding | None = None
    coding_source: str = ""
    lies: str = ""
    """What the metadata says that cannot be."""
    taken: str = ""
    """Camera and time, for the record."""


def read_metadata(path: Path) -> Metadata:
    """Read the facts of a PNG, TIFF, JPEG, EXR or HDR file."""
    source = oiio.ImageInput.open(str(path))
    if source is None:
        reason = error_of(oiio)
        raise InvalidInputError(
            f"{path}: cannot be read as an image ({reason}); export it again as PNG, TIFF or EXR."
        )
    spec = source.spec()
    source.close()
    tags = attributes_of(spec)
    bits = {"uint8": 8, "uint16": 16}.get(str(spec.format), 32)
    coding, why = _coding(path, bits, tags)
    facts = metadata_from_tags(
        {
            "orientation": tags.get("Orientation"),
            "seconds": tags.get("ExposureTime"),
            "f_number": tags.get("FNumber"),
            "iso": tags.get("Exif:PhotographicSensitivity", tags.get("Exif:ISOSpeedRatings")),
            "focal_mm": tags.get("Exif:FocalLength"),
            "focal_35mm": tags.get("Exif:FocalLengthIn35mmFilm"),
            "plane_resolution": tags.get("Exif:FocalPlaneXResolution"),
            "plane_unit": tags.get("Exif:FocalPlaneResolutionUnit"),
            "sensor_width_px": tags.get("Exif:PixelXDimension"),
            "sensor_height_px": tags.get("Exif:PixelYDimension"),
            "taken": " ".join(str(tags[t]) for t in ("Make", "Model", "DateTime") if t in tags),
        },
        bits,
    )
    return Metadata(**{**_fields(facts), "coding": coding, "coding_source": why})


def metadata_from_tags(tags: Mapping[str, Any], bits: int) -> Metadata:
    """Check what EXIF says and bring it to our units; numbers that cannot be are left out."""
    seconds, stop = _positive(tags.get("seconds")), _positive(tags.get("f_number"))
    iso = _positive(tags.get("iso"))
    exposure = seconds * (iso or 100.0) / (stop or 1.0) ** 2 if seconds else None
    resolution = _positive(tags.get("plane_resolution"))
    unit = _MM_PER_UNIT.get(int(_positive(tags.get("plane_unit")) or 2), 25.4)
    lies = [
        f"{word} {tags[name]}"
        for name, word in (("focal_mm", "focal length"), ("focal_35mm", "35 mm focal length"))
        if tags.get(name) is not None and _millimetres(tags[name]) is None
    ]
    orientation = int(_positive(tags.get("orientation")) or 1)
    sides = (_positive(tags.get(f"sensor_{side}_px")) or 0.0 for side in ("width", "height"))
    longer = int(max(sides))
    return Metadata(
        bits=bits,
        orientation=orientation if 1 <= orientation <= 8 else 1,
        exposure=exposure,
        focal_mm=_millimetres(tags.get("focal_mm")),
        focal_35mm=_millimetres(tags.get("focal_35mm")),
        pixels_per_mm=resolution / unit if resolution else None,
        sensor_width_px=longer or None,
        lies=", ".join(lies),
        taken=str(tags.get("taken") or ""),
    )


def _fields(facts: Metadata) -> dict[str, Any]:
    return {name: getattr(facts, name) for name in facts.__dataclass_fields__}


def _positive(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) and number > 0 else None


def _millimetres(value: Any) -> float | None:
    length = _positive(value)
    return length if length is not None and length < _LARGEST_MM else None


def _coding(path: Path, bits: int, tags: Mapping[str, Any]) -> tuple[Coding | None, str]:
    """How the file itself says that its values are coded."""
    suffix = path.suffix.lower()
    if bits == 32:
        return "linear", "float files are linear"
    profile = str(tags.get("ICCProfile:profile_description", ""))
    if profile:
        linear = "linear" in profile.lower() or "gamma=1" in profile.lower()
        return ("linear" if linear else "srgb"), f"its colour profile is {profile}"
    if suffix in (".jpg", ".jpeg"):
        return "srgb", "JPEG files are"
    coding, why = _png_coding(path) if suffix == ".png" else (None, "")
    if coding is None and tags.get("Exif:ColorSpace") == 1:
        return "srgb", "EXIF says sRGB"
    return coding, why


def _png_coding(path: Path) -> tuple[Coding | None, str]:
    """Look for the chunks by which a PNG names its curve; readers hide their absence."""
    gamma = None
    with path.open("rb") as file:
        file.seek(8)
        while len(head := file.read(8)) == 8:
            size, kind = struct.unpack(">I4s", head)
            if kind in (b"sRGB", b"iCCP"):
                return "srgb", f"its {kind.decode()} chunk says so"
            if kind == b"cICP":
                is_linear = file.read(2)[1:] == _CICP_LINEAR
                return ("linear" if is_linear else "srgb"), "its cICP chunk says so"
            if kind == b"gAMA" and size == 4:
                gamma = struct.unpack(">I", file.read(4))[0] / 1e5
                file.seek(4, 1)
                continue
            if kind in (b"IDAT", b"IEND"):
                break
            file.seek(size + 4, 1)
    if gamma is None:
        return None, ""
    return ("linear" if gamma > 0.9 else "srgb"), f"its gAMA chunk says {gamma:g}"
