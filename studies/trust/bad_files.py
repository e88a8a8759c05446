"""Captures whose lists, notes and archives are bad; options and places that are."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from anylight.io.images import read_image, write_image

from .case import RUN, Bad, Build, put, refused, survives, text

INSIDE = ("run", "CAPTURE/a.npz", *RUN[2:])
MATLAB = ("run", "CAPTURE/a.mat", *RUN[2:])


def _stack(folder: Path) -> np.ndarray:
    return np.stack([read_image(path) for path in sorted(folder.glob("photo_*.png"))])


def _npz(**change: object) -> Build:
    """An archive of the photos; None leaves an array out, others replace it."""

    def build(folder: Path) -> None:
        arrays = {"photos": _stack(folder), "K": np.loadtxt(folder / "K.txt")}
        made = {**arrays, **{n: v(arrays) if callable(v) else v for n, v in change.items()}}
        kept: dict[str, Any] = {n: np.asarray(v) for n, v in made.items() if v is not None}
        np.savez(folder / "a.npz", **kept)

    return build


def _cut_npz(folder: Path) -> None:
    _npz()(folder)
    content = (folder / "a.npz").read_bytes()
    (folder / "a.npz").write_bytes(content[: len(content) // 2])


def _bomb_npz(folder: Path) -> None:
    """60 GB of zeros, packed as often as it takes."""
    head = io.BytesIO()
    words = {"descr": "<u2", "fortran_order": False, "shape": (100, 10000, 10000, 3)}
    np.lib.format.write_array_header_1_0(head, words)
    with zipfile.ZipFile(folder / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("photos.npy", head.getvalue() + bytes(1000))


def _mat(**change: object) -> Build:
    def build(folder: Path) -> None:
        images = np.moveaxis(_stack(folder), 0, 3)
        made = {"I": images, "K": np.loadtxt(folder / "K.txt"), **change}
        scipy.io.savemat(folder / "a.mat", {n: v for n, v in made.items() if v is not None})

    return build


def _names(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.glob("photo_*.png"))]


def _listed(*more: str) -> Build:
    return lambda folder: (folder / "filenames.txt").write_text("\n".join([*_names(folder), *more]))


def _lp(first: str, line: str = "{} 0.1 0.2 0.9") -> Build:
    return lambda folder: (folder / "lights.lp").write_text(
        "\n".join([first, *(line.format(name) for name in _names(folder))])
    )


def _lights(folder: Path) -> None:
    _listed()(folder)
    (folder / "light_directions.txt").write_text("0 0 1\n0 1\n")


def _result(folder: Path) -> None:
    np.savez(folder / "result.npz", mask=np.ones((4, 4), bool))
    (folder / "run.json").write_text("{}")


def _foreign(folder: Path) -> None:
    (folder.parent / "out").mkdir()
    (folder.parent / "out" / "thesis.doc").write_text("years of work")


def _in_the_way(folder: Path) -> None:
    (folder.parent / "out").write_text("a file")


def _depth(kind: str, shape: tuple[int, int] | None = None) -> Build:
    def build(folder: Path) -> None:
        full = read_image(folder / "photo_00.png").shape[:2]
        depth = np.full((*(shape or full), 1), 200)
        write_image(folder / "depth.png", depth.astype(kind))

    return build


def _objects(name: str) -> Build:
    def build(folder: Path) -> None:
        np.save(folder / name, np.array([{"a": 1}], dtype=object))

    return build


def _levels(low: int, high: int) -> Build:
    """Photos of noise between two levels."""

    def build(folder: Path) -> None:
        random = np.random.default_rng(0)
        for path in sorted(folder.glob("photo_*.png")):
            shape = read_image(path).shape
            write_image(path, random.integers(low, high + 1, shape).astype(np.uint16))

    return build


def _speck(folder: Path) -> None:
    mask = np.zeros(read_image(folder / "photo_00.png").shape[:2], np.uint8)
    mask[len(mask) // 2, len(mask) // 2] = 255
    write_image(folder / "mask.png", mask[..., None])


FILES: list[Bad] = [
    refused("notes with an unknown key", text("capture.toml", "gama = 1"), "capture.toml"),
    refused("notes broken", text("capture.toml", "files = ["), "capture.toml"),
    refused("notes of bytes", put("capture.toml", b"\xff\xfe\x00"), "capture.toml"),
    refused("notes naming what is not there", text("capture.toml", 'files = ["a", "b", "c"]'), "a"),
    refused(
        "notes naming a photo twice",
        text("capture.toml", 'files = ["photo_00.png", "photo_00.png", "photo_01.png"]'),
        "twice",
    ),
    refused(
        "notes naming other folders",
        text("capture.toml", 'files = ["../secret.png", "photo_00.png", "photo_01.png"]'),
        "without folders",
    ),
    refused("notes of another curve", text("capture.toml", 'transfer = "gamma"'), "capture.toml"),
    refused("a list naming what is not there", _listed("nowhere.png"), "nowhere.png"),
    refused("a list naming other folders", _listed("../../etc/passwd"), "not in the folder"),
    refused("a list of bytes", put("filenames.txt", b"\xff\xfe\x80"), "filenames.txt"),
    refused("directions too few", _lights, "light_directions.txt"),
    refused("LP promising more", _lp("99"), "promises 99"),
    refused("LP without a number", _lp("many"), "does not begin with a number"),
    refused("LP with NaN", _lp("6", "{} nan 0 1"), "line 2"),
    refused("LP naming nothing", _lp("6", "x{} 0 0 1"), "not beside it"),
    refused("objects.txt naming nothing", text("objects.txt", "nobody"), "names no folder"),
    refused("NPZ that is none", put("a.npz", b"not a zip"), "a.npz", command=INSIDE),
    refused("NPZ cut off", _cut_npz, "a.npz", command=INSIDE),
    refused("NPZ bomb", _bomb_npz, "a.npz", command=INSIDE),
    refused("NPZ without photos", _npz(photos=None, x=1), "no photos", command=INSIDE),
    refused("NPZ of objects", _npz(photos=[{"a": 1}]), "Python objects", command=INSIDE),
    refused("NPZ of words", _npz(photos=["a", "b"]), "no photos", command=INSIDE),
    refused(
        "NPZ with NaN", _npz(photos=np.full((4, 9, 9, 3), np.nan)), "NaN", command=INSIDE
    ),
    refused("NPZ of two photos", _npz(photos=np.ones((2, 9, 9))), "at least 3", command=INSIDE),
    refused("NPZ with another mask", _npz(mask=np.ones((3, 3))), "its mask", command=INSIDE),
    refused("NPZ with an empty mask", _npz(mask=lambda a: a["photos"][0, :, :, 0] * 0),
            "mask is empty", command=INSIDE),
    refused("NPZ with a bad K", _npz(K=np.zeros((3, 3))), "its K", command=INSIDE),
    refused("MAT that is none", put("a.mat", b"MATLAB 5.0 MAT-file" * 20), "a.mat", command=MATLAB),
    refused("MAT of no bytes", put("a.mat", b""), "a.mat", command=MATLAB),
    refused("MAT 7.3", put("a.mat", b"MATLAB 7.3 MAT-file" * 9), "7.3", command=MATLAB),
    refused("MAT without images", _mat(I=None, x=1), "no images", command=MATLAB),
    refused("MAT of words", _mat(I="photos"), "no images", command=MATLAB),
    refused("a video", put("turn.mp4", b"ftypisom"), "ffmpeg",
            command=("run", "CAPTURE/turn.mp4", *RUN[2:])),
    refused("one photo", None, "single file", command=("run", "CAPTURE/photo_00.png", *RUN[2:])),
    refused("no such folder", None, "no such folder", command=("run", "PLACE/nowhere", *RUN[2:])),
    refused("photos instead of a folder", None, "folder of the photos",
            command=("run", "CAPTURE/photo_00.png", "CAPTURE/photo_01.png")),
    refused("a result as photos", _result, "result of a run"),
    refused("other files in the output", _foreign, "already holds other files"),
    refused("a file as output", _in_the_way, "is a file"),
    refused("output below a file", _in_the_way, "cannot be written",
            command=("run", "CAPTURE", "--out", "OUT/deeper")),
    refused("a lens in words", None, "must be a number", "--focal-35mm", "50mm"),
    refused("a lens of zero", None, "--focal-35mm", "--focal-35mm", "0"),
    refused("a lens of NaN", None, "--fov", "--fov", "nan"),
    refused("two lenses", None, "only one of", "--fov", "30", "--focal-35mm", "50"),
    refused("no such method", None, "magic", command=("run", "CAPTURE", "--method", "magic")),
    refused("another method's option", None, "--volume", "--method", "mo2018", "--volume", "1",
            command=("run", "CAPTURE", "--out", "OUT")),
    refused("reduced to nothing", None, "--downscale", "--downscale", "64"),
    refused("reduced by zero", None, "--downscale", "--downscale", "0"),
    refused("more photos than there are", None, "--use 99", "--use", "99"),
    refused("too few photos to use", None, "--use", "--use", "2"),
    refused("scale points in words", None, "--scale-points", "--scale-points", "1"),
    refused("scale points of NaN", None, "--scale-points", "--scale-points", "nan,1,2,3,4"),
    refused("a start that is not there", None, "nowhere.npz", "--init", "nowhere.npz"),
    refused("a known depth of another size", _depth("uint16", (3, 3)), "depth.png",
            "--depth-prior", "CAPTURE/depth.png"),
    refused("a known depth of 8 bits", _depth("uint8"), "8 bits",
            "--depth-prior", "CAPTURE/depth.png"),
    refused("a known depth of objects", _objects("d.npy"), "Python objects",
            "--depth-prior", "CAPTURE/d.npy"),
    refused("a truth of objects", _npz(mask=[{"a": 1}]), "Python objects",
            command=("eval", "CAPTURE/a.npz", "--truth", "CAPTURE")),
    refused("a result that is not there", None, "no such file",
            command=("eval", "PLACE", "--truth", "CAPTURE")),
    refused("normals that are photos of one channel", _depth("uint16"), "three",
            command=("integrate", "CAPTURE/depth.png", "--out", "OUT")),
    refused("equal names in a batch", None, "rename one",
            command=("batch", "CAPTURE", "CAPTURE", "--out", "OUT")),
    refused("a mesh that is none", text("m.ply", "ply\nnonsense"), "m.ply",
            command=("synth", "--shape", "CAPTURE/m.ply", "--out", "OUT")),
    refused("no such shape", None, "teapot",
            command=("bench", "--shapes", "teapot", "--out", "OUT")),
    refused("no such cluster", None, "is not an address",
            command=("batch", "CAPTURE", "--out", "OUT", "--cluster", "here")),
    refused("nearly black", _levels(0, 3), "photos are black"),
    survives("nearly white", _levels(65530, 65535)),
    survives("noise", _levels(0, 65535)),
    survives("an object of one pixel", _speck, "1 pixel"),
]  # fmt: skip
