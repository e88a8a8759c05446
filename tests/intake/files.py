"""Files as other programs write them."""

import struct
import zlib
from functools import cache

import numpy as np
import OpenImageIO as oiio
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

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


def write_dng(path, mosaic, orientation=1, white=16383, seconds=(1, 50)):
    """Write a colour filter array (red, green / green, blue) as an uncompressed DNG."""
    height, width = mosaic.shape
    data = mosaic.astype("<u2").tobytes()
    matrix = (3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.2040, 1.0570)
    srational = b"".join(struct.pack("<ii", round(x * 10000), 10000) for x in matrix)
    ascii_, byte, short, long, rational, signed = 2, 1, 3, 4, 5, 10
    exif_entries = [
        (33434, rational, 1, struct.pack("<II", *seconds)),
        (33437, rational, 1, struct.pack("<II", 8, 1)),
        (34855, short, 1, struct.pack("<H", 100)),
        (37386, rational, 1, struct.pack("<II", 50, 1)),
        (41989, short, 1, struct.pack("<H", 75)),
    ]
    entries = [
        (254, long, 1, struct.pack("<I", 0)),
        (256, long, 1, struct.pack("<I", width)),
        (257, long, 1, struct.pack("<I", height)),
        (258, short, 1, struct.pack("<H", 16)),
        (259, short, 1, struct.pack("<H", 1)),
        (262, short, 1, struct.pack("<H", 32803)),
        (271, ascii_, 5, b"Acme\0"),
        (272, ascii_, 4, b"Cam\0"),
        (273, long, 1, None),
        (274, short, 1, struct.pack("<H", orientation)),
        (277, short, 1, struct.pack("<H", 1)),
        (278, long, 1, struct.pack("<I", height)),
        (279, long, 1, struct.pack("<I", len(data))),
        (284, short, 1, struct.pack("<H", 1)),
        (33421, short, 2, struct.pack("<HH", 2, 2)),
        (33422, byte, 4, bytes([0, 1, 1, 2])),
        (34665, long, 1, None),
        (50706, byte, 4, bytes([1, 4, 0, 0])),
        (50708, ascii_, 9, b"Acme Cam\0"),
        (50714, short, 1, struct.pack("<H", 0)),
        (50717, long, 1, struct.pack("<I", white)),
        (50721, signed, 9, srational),
        (50728, rational, 3, struct.pack("<IIIIII", 1, 1, 1, 1, 1, 1)),
        (50778, short, 1, struct.pack("<H", 21)),
    ]
    start = 8
    exif_at = start + _length(entries)
    pixels_at = exif_at + _length(exif_entries)
    places = {273: pixels_at, 34665: exif_at}
    entries = [
        (tag, kind, count, value if value is not None else struct.pack("<I", places[tag]))
        for tag, kind, count, value in entries
    ]
    path.write_bytes(
        b"II*\0"
        + struct.pack("<I", start)
        + _directory(entries, start)
        + _directory(exif_entries, exif_at)
        + data
    )


def _length(entries):
    long = sum(len(v) + len(v) % 2 for *_, v in entries if v is not None and len(v) > 4)
    return 2 + 12 * len(entries) + 4 + long


def _directory(entries, start):
    head, tail = struct.pack("<H", len(entries)), b""
    after = start + 2 + 12 * len(entries) + 4
    for tag, kind, count, value in entries:
        if len(value) <= 4:
            head += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
        else:
            head += struct.pack("<HHII", tag, kind, count, after + len(tail))
            tail += value + b"\0" * (len(value) % 2)
    return head + struct.pack("<I", 0) + tail
