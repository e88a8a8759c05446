"""Captures whose photos, masks and cameras are bad."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anylight.io.images import read_image, write_image

from .case import Bad, edit, place, put, refused, text

PNG = b"\x89PNG\r\n\x1a\n"


def _photo(folder: Path, index: int = 1) -> Path:
    return folder / f"photo_{index:02d}.png"


def _renamed(suffix: str, content: bytes) -> Callable[[Path], None]:
    """Replace one photo by a file of another format and content."""

    def build(folder: Path) -> None:
        _photo(folder).unlink()
        (folder / f"photo_01{suffix}").write_bytes(content)

    return build


def _as(suffix: str, share: float = 1.0, flip: int | None = None) -> Callable[[Path], None]:
    """Store all photos in another format, one of them cut off or with a bit flipped."""

    def build(folder: Path) -> None:
        for path in sorted(folder.glob("photo_*.png")):
            pixels = read_image(path)
            if suffix == ".jpg":
                pixels = (pixels >> 8).astype(np.uint8)
            if suffix in (".exr", ".hdr"):
                pixels = (pixels / 65535).astype(np.float32)
            path.unlink()
            write_image(path.with_suffix(suffix), pixels)
        path = folder / f"photo_01{suffix}"
        content = bytearray(path.read_bytes())
        if flip is not None:
            content[flip] ^= 0x10
        path.write_bytes(bytes(content[: int(share * len(content))]))

    return build


def chunk(kind: bytes, data: bytes) -> bytes:
    """A piece of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _bomb(folder: Path) -> None:
    head = struct.pack(">IIBBBBB", 60000, 60000, 16, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 2_000_000)
    content = chunk(b"IHDR", head) + chunk(b"IDAT", data * 40) + chunk(b"IEND", b"")
    _photo(folder, 0).write_bytes(PNG + content)


def _tiff_bomb(folder: Path) -> None:
    """A TIFF of a few bytes that promises 1.6 billion pixels."""
    tags = [(256, 40000), (257, 40000), (258, 16), (259, 1), (262, 1), (273, 8), (277, 1),
            (278, 40000), (279, 3_200_000_000)]  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    head = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(tags))
    _photo(folder, 0).with_suffix(".tif").write_bytes(head + entries + struct.pack("<I", 0))


def _floats(value: float) -> Callable[[Path], None]:
    def build(folder: Path) -> None:
        _as(".exr")(folder)
        pixels = read_image(folder / "photo_02.exr")
        pixels[5, 7] = value
        write_image(folder / "photo_02.exr", pixels)

    return build


def _every(change: Callable[[np.ndarray, int], np.ndarray]) -> Callable[[Path], None]:
    """Change the pixels of all photos."""

    def build(folder: Path) -> None:
        for index, path in enumerate(sorted(folder.glob("photo_*.png"))):
            write_image(path, np.ascontiguousarray(change(read_image(path), index)))

    return build


def _one(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def build(folder: Path) -> None:
        write_image(_photo(folder, 2), np.ascontiguousarray(change(read_image(_photo(folder, 2)))))

    return build


def _mask(make: Callable[[tuple[int, int]], np.ndarray], name: str = "mask.png") -> object:
    def build(folder: Path) -> None:
        shape = read_image(folder / "photo_00.png").shape[:2]
        write_image(folder / name, make((shape[0], shape[1]))[..., None].astype(np.uint8))

    return build


def _only(*names: str) -> Callable[[Path], None]:
    """Keep only some photos."""

    def build(folder: Path) -> None:
        for path in folder.glob("photo_*"):
            if path.name not in names:
                path.unlink()

    return build


def _all_alike(folder: Path) -> None:
    for path in folder.glob("photo_*"):
        path.write_bytes((folder / "photo_00.png").read_bytes()) if path.stem[-1] != "0" else None


def _heap(folder: Path) -> None:
    """Photos taken away, other people's files left."""
    _only()(folder)
    for index in range(4):
        (folder / f"IMG_{index}.HEIC").write_bytes(b"ftypheic")


PHOTOS: list[Bad] = [
    refused("nothing in it", _only(), "0 photo(s)"),
    refused("two photos", _only("photo_00.png", "photo_01.png"), "at least 3"),
    refused("HEIC", _heap, "heif-convert"),
    *(
        refused(f"no bytes {suffix}", _renamed(suffix, b""), "cannot be read as an image")
        for suffix in (".png", ".jpg", ".tif", ".exr", ".hdr")
    ),
    *(
        refused(f"text as {suffix}", _renamed(suffix, b"dear diary, " * 50), "cannot be read")
        for suffix in (".png", ".jpg", ".tif", ".exr", ".hdr")
    ),
    *(
        refused(f"{suffix} cut off at {share}", _as(suffix, share), "photo_01")
        for suffix in (".png", ".jpg", ".tif", ".exr", ".hdr")
        for share in (0.05, 0.6)
    ),
    refused("a web page as JPEG", _renamed(".jpg", b"<!doctype html><html>404</html>"), "photo_01"),
    refused("a flipped bit in PNG", _as(".png", flip=300), "photo_01.png"),
    refused("a flipped bit in a header", _as(".png", flip=19), "photo_01.png"),
    refused("a PNG of nothing but its signature", _renamed(".png", PNG), "photo_01.png"),
    refused("a bomb PNG", _bomb, "photo_00.png"),
    refused("a bomb TIFF", _tiff_bomb, "photo_00.tif"),
    refused("another size", _one(lambda p: p[:, :-1]), "leave it out"),
    refused("portrait", _one(lambda p: np.swapaxes(p, 0, 1)[:, :-1]), "photo_02.png"),
    refused("grey among colour", _one(lambda p: p[..., :1]), "grey"),
    refused("twins", edit("photo_03.png", lambda f: (f / "photo_01.png").read_bytes()), "same"),
    refused("all alike", _all_alike, "photos are the same"),
    refused("NaN", _floats(np.nan), "NaN"),
    refused("infinite", _floats(np.inf), "infinite"),
    refused("negative", _floats(-0.5), "negative"),
    refused("a folder of folders", place("inner"), "give one of them"),
    refused("black mask", _mask(np.zeros), "all black"),
    refused("mask of another size", _mask(lambda s: np.full((s[0], s[1] + 1), 255)), "mask.png"),
    refused("a soft mask", _mask(lambda s: np.arange(s[0] * s[1]).reshape(s) % 256), "mask.png"),
    refused("two masks", _mask(np.ones, "mask.tif"), "second mask"),
    refused("a mask of no bytes", put("mask.png", b""), "mask.png"),
    refused("a mask that is text", text("mask.png", "white"), "mask.png"),
    refused("a mask that is not there", None, "no such file", "--mask", "nowhere.png"),
    refused("a polygon of two corners", None, "--mask", "--mask", "1,1 5,5"),
    refused("a polygon of words", None, "no such file", "--mask", "1,1 5,x 3,3"),
    refused("a polygon elsewhere", None, "--mask", "--mask", "900,900 990,900 900,990"),
    refused("K of words", text("K.txt", "fifty 0 0\n0 fifty 0\n0 0 1"), "K.txt"),
    refused("K too small", text("K.txt", "1 0\n0 1\n"), "K.txt"),
    refused("K with NaN", text("K.txt", "nan 0 1\n0 5 1\n0 0 1"), "K.txt"),
    refused("K negative", text("K.txt", "-50 0 16\n0 50 16\n0 0 1"), "K.txt"),
    refused("K with skew", text("K.txt", "50 9 16\n0 50 16\n0 0 1"), "K.txt"),
    refused("K of nothing", text("K.txt", ""), "K.txt"),
    refused("K of bytes", put("K.txt", bytes(range(256))), "K.txt"),
    refused("K huge", text("K.txt", "1e400 0 16\n0 50 16\n0 0 1"), "K.txt"),
    refused("YAML broken", text("camera.yml", "camera_matrix: [1, 2"), "camera.yml", no_k=True),
    refused(
        "YAML of bytes",
        put("camera.yml", b"\xff\xfe\x00" * 9),
        "camera.yml",
        "--intrinsics",
        "CAPTURE/camera.yml",
    ),
    refused("COLMAP broken", text("cameras.txt", "1 PINHOLE 32"), "cameras.txt", no_k=True),
    refused("COLMAP of words", text("cameras.txt", "one two three"), "cameras.txt", no_k=True),
    refused(
        "COLMAP fisheye",
        text("cameras.txt", "1 THIN_PRISM_FISHEYE 32 32 50 50 16 16 0 0 0 0 0 0 0 0"),
        "cameras.txt",
        no_k=True,
    ),
    refused("intrinsics not there", None, "no such file", "--intrinsics", "nowhere.txt"),
    refused("black photos", _every(lambda p, i: (p * 0 + (i < 1) * 0).astype(np.uint16)), "same"),
]
