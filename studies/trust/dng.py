"""RAW files as cameras write them, made by hand: for tests and for fuzzing."""

import struct

import numpy as np

_Entry = tuple[int, int, int, bytes | None]
"""Tag, kind, count and value; None is filled in."""


def dng(
    mosaic: np.ndarray,
    orientation: int = 1,
    white: int = 16383,
    seconds: tuple[int, int] = (1, 50),
) -> bytes:
    """A colour filter array (red, green / green, blue) as an uncompressed DNG."""
    height, width = mosaic.shape
    data = mosaic.astype("<u2").tobytes()
    matrix = (3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.2040, 1.0570)
    srational = b"".join(struct.pack("<ii", round(x * 10000), 10000) for x in matrix)
    ascii_, byte, short, long, rational, signed = 2, 1, 3, 4, 5, 10
    exif_entries: list[_Entry] = [
        (33434, rational, 1, struct.pack("<II", *seconds)),
        (33437, rational, 1, struct.pack("<II", 8, 1)),
        (34855, short, 1, struct.pack("<H", 100)),
        (37386, rational, 1, struct.pack("<II", 50, 1)),
        (41989, short, 1, struct.pack("<H", 75)),
    ]
    entries: list[_Entry] = [
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
    return (
        b"II*\0"
        + struct.pack("<I", start)
        + _directory(entries, start)
        + _directory(exif_entries, exif_at)
        + data
    )


def _length(entries: list[_Entry]) -> int:
    long = sum(len(v) + len(v) % 2 for *_, v in entries if v is not None and len(v) > 4)
    return 2 + 12 * len(entries) + 4 + long


def _directory(entries: list[_Entry], start: int) -> bytes:
    head, tail = struct.pack("<H", len(entries)), b""
    after = start + 2 + 12 * len(entries) + 4
    for tag, kind, count, value in entries:
        assert value is not None
        if len(value) <= 4:
            head += struct.pack("<HHI", tag, kind, count) + value.ljust(4, b"\0")
        else:
            head += struct.pack("<HHII", tag, kind, count, after + len(tail))
            tail += value + b"\0" * (len(value) % 2)
    return head + struct.pack("<I", 0) + tail
