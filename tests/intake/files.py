"""Files as other programs write them."""

import struct
import zlib
from functools import cache

import numpy as np
import OpenImageIO as oiio
from PIL import Image
from PIL.TiffImagePlugin import IFDRational
from studies.trust.dng import dng

import anylight
from anylight.io.images import write_image
from anylight.photometry.transfer import linear_to_srgb

EXIF_FOLDER = 0x8769


@cache
def rendering(shape="vase", albedo="bars", images=12, **more):
    options = anylight.SynthOptions(
        shape=shape, albedo=albedo, images=images, **{"height": 96, **more}
    )
    return anylight.render(options)


def eight_bit(capture, is_coded=False):
    light = capture.photos / 65535.0
    return np.round(255 * (linear_to_srgb(light) if is_coded else light)).astype(np.uint8)


def write_photos(folder, photos, name="photo_{:02d}.png", **save):
    """Write with Pillow, which adds no chunks of its own; 16 bit by ourselves."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name.format(index) for index in range(len(photos))]
    for path, photo in zip(paths, photos, strict=True):
        if photo.dtype == np.uint8:
            pixels = photo[..., 0] if photo.shape[2] == 1 else photo
            Image.fromarray(pixels).save(path, **save)
        else:
            write_png16(path, photo) if path.suffix == ".png" else write_image(path, photo)
    return paths


def write_png16(path, photo):
    """Write a 16-bit PNG that says nothing about its curve."""
    height, width, channels = photo.shape
    head = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 3: 2}[channels], 0, 0, 0)
    rows = photo.astype(">u2").reshape(height, -1).view(np.uint8)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    body = [(b"IHDR", head), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, data) for kind, data in body))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def insert_chunk(path, kind, data):
    """Insert a chunk after the header of a PNG."""
    content = path.read_bytes()
    path.write_bytes(content[:33] + chunk(kind, data) + content[33:])


def noise(rng, num=4, shape=(24, 36), channels=3, dtype=np.uint8):
    return rng.integers(20, np.iinfo(dtype).max - 20, (num, *shape, channels)).astype(dtype)


def exif(orientation=None, **numbers):
    """EXIF as a camera writes it: names of numbers as in the standard."""
    tags = {
        "seconds": 0x829A, "f_number": 0x829D, "iso": 0x8827, "focal": 0x920A, "focal_35mm": 0xA405,
        "plane_x": 0xA20E, "plane_unit": 0xA210, "width": 0xA002, "height": 0xA003,
    }  # fmt: skip
    whole = {"iso", "focal_35mm", "plane_unit", "width", "height"}
    found = Image.Exif()
    if orientation is not None:
        found[0x0112] = orientation
    folder = found.get_ifd(EXIF_FOLDER)
    for name, value in numbers.items():
        folder[tags[name]] = value if name in whole else IFDRational(round(value * 10000), 10000)
    return found


def write_tiff_with_exif(path, photo, **attributes):
    spec = oiio.ImageSpec(photo.shape[1], photo.shape[0], photo.shape[2], str(photo.dtype))
    for name, value in attributes.items():
        spec.attribute(name.replace("__", ":"), value)
    sink = oiio.ImageOutput.create(str(path))
    sink.open(str(path), spec)
    sink.write_image(photo)
    sink.close()


def write_dng(path, *mosaic, **facts):
    """Write a colour filter array (see `studies.trust.dng.dng`)."""
    path.write_bytes(dng(*mosaic, **facts))
