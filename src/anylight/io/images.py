"""Images as they are stored: 8 and 16 bit stay integers, floats stay linear floats.

OpenImageIO reads and writes everything here because it keeps 16-bit RGB (Pillow and imageio cut
it to 8) and reports truncated files.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import OpenImageIO as oiio
from jaxtyping import Float, Shaped

from anylight.errors import InvalidInputError

from .room import check_memory

PHOTO_SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".exr", ".hdr")
MAX_PIXELS = 400_000_000
"""Largest image that is opened: a header that promises more is a mistake or an attack."""

_PNG_LEVEL, _PNG_ABOVE = 5, 32
"""Less than half of the time of the usual level 6 and of trying every filter, and files that are a
twentieth larger: every pixel is told by the one above it."""
_KEPT = ("uint8", "uint16")
"""Stored types that are read as they are; everything else is read as float32."""


def read_image(path: Path | str) -> Shaped[np.ndarray, "H W C"]:
    """Read uint8, uint16 or float32 pixels; an alpha channel is left out.

    Raises:
        InvalidInputError: the file is missing, cut off, or not an image.
    """
    return _read(Path(path))[0]


def read_alpha(path: Path | str) -> Float[np.ndarray, "H W"] | None:
    """How opaque every pixel is, 0 to 1; None if the file has no such channel.

    Raises:
        InvalidInputError: the file is missing, cut off, or not an image.
    """
    pixels, alpha = _read(Path(path))
    if alpha is None:
        return None
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1.0
    return alpha / full


def _read(
    path: Path,
) -> tuple[Shaped[np.ndarray, "H W C"], Shaped[np.ndarray, "H W"] | None]:
    """Pixels, and the alpha channel if there is one.

    Raises:
        InvalidInputError: the file is missing, cut off, or not an image.
    """
    if not path.is_file():
        kind = "is a folder, not an image" if path.is_dir() else "no such file"
        raise InvalidInputError(f"{path}: {kind}; check the name.")
    config = oiio.ImageSpec()
    config.attribute("oiio:UnassociatedAlpha", 1)
    with _silence():
        source = oiio.ImageInput.open(str(path), config)
    if source is None:
        reason = error_of(oiio)
        raise InvalidInputError(
            f"{path}: cannot be read as an image ({reason}); export it again as PNG, TIFF or EXR."
        )
    try:
        spec = source.spec()
        if spec.width * spec.height > MAX_PIXELS:
            raise InvalidInputError(
                f"{path}: {spec.width}×{spec.height} pixels are more than the limit of "
                f"{MAX_PIXELS // 10**6} million; reduce the image."
            )
        check_memory(path, 2 * _size_of(spec).bytes, "reduce the image.")
        stored = str(spec.format)
        kept = stored if stored in _KEPT else "float"
        with _silence():
            pixels = source.read_image(0, 0, 0, spec.nchannels, kept)
        reason = error_of(source)
    finally:
        source.close()
    if pixels is None or reason:
        raise InvalidInputError(
            f"{path}: the file is damaged or cut off ({reason}); copy it from the camera again."
        )
    pixels = pixels.reshape(spec.height, spec.width, -1)
    if not _has_alpha(spec):
        return np.ascontiguousarray(pixels), None
    return np.ascontiguousarray(pixels[..., :-1]), pixels[..., -1]


class StoredSize(NamedTuple):
    """How large an image is, by its header."""

    height: int
    width: int
    channels: int
    """Alpha included."""
    sample_bytes: int
    """Of a sample as it is read."""

    @property
    def bytes(self) -> int:
        """That the image takes in memory."""
        return self.height * self.width * self.channels * self.sample_bytes


def stored_size(path: Path) -> StoredSize:
    """The size of an image, by its header; nothing if it cannot be opened."""
    with _silence():
        source = oiio.ImageInput.open(str(path))
    if source is None:
        error_of(oiio)
        return StoredSize(0, 0, 0, 0)
    spec = source.spec()
    source.close()
    return _size_of(spec)


def _size_of(spec: oiio.ImageSpec) -> StoredSize:
    """Pixels and alpha as they are read."""
    size = {"uint8": 1, "uint16": 2}.get(str(spec.format), 4)
    return StoredSize(int(spec.height), int(spec.width), int(spec.nchannels), size)


def has_alpha(path: Path) -> bool:
    """Whether an image file has a transparency channel."""
    source = oiio.ImageInput.open(str(path))
    if source is None:
        return False
    spec = source.spec()
    source.close()
    return _has_alpha(spec)


def _has_alpha(spec: oiio.ImageSpec) -> bool:
    return bool(spec.nchannels in (2, 4) and spec.alpha_channel >= 0)


def read_attributes(path: Path) -> dict[str, str]:
    """Read what an image file says about itself in words; nothing if it cannot be opened."""
    with _silence():
        source = oiio.ImageInput.open(str(path))
    if source is None:
        error_of(oiio)
        return {}
    items = attributes_of(source.spec())
    words = {name: value for name, value in items.items() if isinstance(value, str)}
    source.close()
    return words


def write_image(
    path: Path | str,
    pixels: Shaped[np.ndarray, "H W C"],
    attributes: Mapping[str, str | int] | None = None,
    channel_names: Sequence[str] | None = None,
) -> None:
    """Write uint8, uint16 or float32 pixels in the format that the suffix names.

    Attributes are what the file says in words (PNG: Latin letters) or settings of OpenImageIO.
    """
    _write(Path(path), Path(path).suffix, pixels, attributes or {}, channel_names)


def _write(
    path: Path,
    suffix: str,
    pixels: Shaped[np.ndarray, "H W C"],
    attributes: Mapping[str, str | int],
    channel_names: Sequence[str] | None = None,
) -> None:
    if pixels.dtype not in (np.uint8, np.uint16, np.float32):
        raise TypeError(f"images are uint8, uint16 or float32, not {pixels.dtype}")
    height, width, channels = pixels.shape
    kind = "float" if pixels.dtype == np.float32 else str(pixels.dtype)
    spec = oiio.ImageSpec(width, height, channels, kind)
    spec.attribute("DateTime", "")  # the same pixels give the same bytes
    if suffix == ".jpg":
        spec.attribute("Compression", "jpeg:95")
    if suffix == ".png":
        spec.attribute("png:compressionLevel", _PNG_LEVEL)
        spec.attribute("png:filter", _PNG_ABOVE)
    if channels not in (1, 3):
        spec.channelnames = tuple(f"channel{index}" for index in range(channels))
        spec.alpha_channel = -1
    if channel_names is not None:
        spec.channelnames = tuple(channel_names)
    for name, text in attributes.items():
        spec.attribute(name, text)
    sink = oiio.ImageOutput.create(f"picture{suffix}")
    if sink is None or not sink.open(str(path), spec):
        reason = error_of(oiio if sink is None else sink)
        raise InvalidInputError(f"{path}: cannot be written ({reason}); choose another format.")
    written = sink.write_image(np.ascontiguousarray(pixels))
    reason = error_of(sink)
    if not sink.close() or not written:
        raise InvalidInputError(f"{path}: cannot be written ({reason}); is the disk full?")


def encoded(
    pixels: Shaped[np.ndarray, "H W C"], suffix: str, attributes: Mapping[str, str | int] | None
) -> bytes:
    """An image file as bytes; OpenImageIO writes only to files, so to one in memory."""
    pixels = np.ascontiguousarray(pixels)
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryDirectory(prefix="anylight-") as folder:
            path = Path(folder) / f"picture{suffix}"
            write_image(path, pixels, attributes)
            return path.read_bytes()
    handle = os.memfd_create("picture")
    try:
        _write(Path(f"/proc/self/fd/{handle}"), suffix, pixels, attributes or {})
        return os.pread(handle, os.fstat(handle).st_size, 0)
    finally:
        os.close(handle)


def png_bytes(pixels: Shaped[np.ndarray, "H W C"]) -> bytes:
    """A PNG file as bytes."""
    return encoded(pixels, ".png", {"png:compressionLevel": 6})


def jpeg_bytes(pixels: Shaped[np.ndarray, "H W C"], quality: int) -> bytes:
    """A JPEG file as bytes."""
    return encoded(pixels, ".jpg", {"Compression": f"jpeg:{quality}"})


def save_environment(path: Path, environment: Float[np.ndarray, "Y X C"]) -> None:
    """Write an environment map as .hdr or .exr; negative light, which neither can mean, is cut.

    A .hdr holds three channels: grey is repeated.
    """
    light = np.maximum(environment, 0).astype(np.float32)
    if path.suffix == ".hdr" and light.shape[2] == 1:
        light = np.repeat(light, 3, axis=2)
    write_image(path, light)


class _Silence:
    """Keeps decoders from printing to stderr what they also return as an error.

    Threads share one stderr: the first to ask for silence gets it, the last gives the sound back.
    """

    def __init__(self) -> None:
        self._lock, self._users, self._kept = threading.Lock(), 0, -1

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                sys.stderr.flush()
                self._kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 2)
                os.close(nowhere)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    os.dup2(self._kept, 2)
                    os.close(self._kept)


_silence = _Silence()


def error_of(source: Any) -> str:
    """What OpenImageIO says is wrong, in one line; damaged files may spoil even that."""
    try:
        return " ".join(str(source.geterror()).split())
    except UnicodeDecodeError:
        return "it is damaged"


def attributes_of(spec: oiio.ImageSpec) -> dict[str, Any]:
    """What a header says, as far as it is letters and numbers."""
    found = {}
    for item in spec.extra_attribs:
        with suppress(UnicodeDecodeError):
            found[item.name] = item.value
    return found
