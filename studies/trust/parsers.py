"""Everything that reads bytes of strangers, and good files to begin from.

The law: whatever the bytes, a parser gives something or raises `InvalidInputError` in one line.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import trimesh

from anylight.errors import InvalidInputError
from anylight.intake.arrays import read_mat, read_npz
from anylight.intake.coding import find_coding
from anylight.intake.intrinsics import read_intrinsics
from anylight.intake.photo import read_photo
from anylight.intake.polygon import is_polygon, polygon_mask
from anylight.io.archive import load_reconstruction
from anylight.io.capture import read_mask, read_matrix, read_notes
from anylight.io.depths import read_depth_map
from anylight.io.images import encoded
from anylight.io.lp import read_lp
from anylight.io.mesh import load_mesh
from anylight.io.results import load_result

from .dng import dng

SHAPE = (12, 16)


@dataclass(frozen=True)
class Parser:
    """A reader of one kind of file."""

    name: str
    file: str
    """Name that the file has on the disk."""
    read: Callable[[Path], Any]
    seed: bytes
    """A good file."""
    tokens: tuple[bytes, ...] = ()
    """Words that mean something in it."""

    def holds(self, content: bytes, place: Path) -> str | None:
        """Try some bytes; gives what broke the law, if anything did."""
        path = place / self.file
        path.write_bytes(content)
        try:
            self.read(path)
        except InvalidInputError as error:
            sentence = str(error)
            return None if "\n" not in sentence and sentence else f"says {sentence!r}"
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"
        return None


def _picture(channels: int = 3, kind: str = "uint8") -> np.ndarray:
    values = np.random.default_rng(1).random((*SHAPE, channels))
    top = 1.0 if kind == "float32" else np.iinfo(kind).max
    return (values * top).astype(kind)


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones(SHAPE))
    return file.getvalue()


def _mat() -> bytes:
    file = io.BytesIO()
    stack = np.random.default_rng(2).random((*SHAPE, 3, 4))
    scipy.io.savemat(file, {"I": stack, "mask": np.ones(SHAPE), "K": np.diag([9.0, 9, 1])})
    return file.getvalue()


def _pfm() -> bytes:
    return b"Pf\n16 12\n-1.0\n" + np.ones(SHAPE, "<f4").tobytes()


def _mesh(kind: str) -> bytes:
    made = trimesh.creation.icosphere(1).export(file_type=kind)
    return made.encode() if isinstance(made, str) else bytes(made)


def _photo(path: Path) -> None:
    """A photo, and what its curve is found to be."""
    pixels, facts = read_photo(path)
    stack = np.stack([pixels] * 3)
    find_coding(None, None, None, (facts,) * 3, stack)


def _polygon(path: Path) -> None:
    words = path.read_bytes().decode("utf-8", "replace")
    if is_polygon(words):
        polygon_mask(words, SHAPE)


K = b"50.5 0 8\n0 50.5 6\n0 0 1\n"
YAML = b"""%YAML:1.0
image_width: 16
image_height: 12
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 50., 0., 8., 0., 50., 6., 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 1
   cols: 5
   dt: d
   data: [ 0.1, 0., 0., 0., 0. ]
"""
COLMAP = b"# Camera list\n1 SIMPLE_RADIAL 16 12 50 8 6 0.01\n"
LP = b"3\na.png 0.1 0.2 0.9\nb.png -0.1 0.2 0.9\nc d.png 0 0 1\n"
TOML = b"""transfer = "linear"
camera = "perspective"
focal_35mm = 50.0
files = ["a.png", "b.png", "c.png"]
"""
PARSERS: dict[str, Parser] = {
    parser.name: parser
    for parser in (
        Parser("K", "K.txt", read_matrix, K, (b"nan", b"inf", b"1e999", b"-", b",", b";", b"#")),
        Parser("YAML", "camera.yml", lambda p: read_intrinsics(p, SHAPE), YAML,
               (b"camera_matrix", b"data", b"!!python/object", b"&a", b"*a", b"[", b"{", b"nan")),
        Parser("COLMAP", "cameras.txt", lambda p: read_intrinsics(p, SHAPE), COLMAP,
               (b"PINHOLE", b"OPENCV", b"FISHEYE", b"#", b"nan", b"0", b"-1")),
        Parser("LP", "lights.lp", read_lp, LP, (b"nan", b"inf", b"\t", b"\r", b"99999999999")),
        Parser("TOML", "capture.toml", read_notes, TOML,
               (b"files", b"[", b"]", b"nan", b"=", b'"""', b"[[a]]", b"inf")),
        Parser("polygon", "polygon.txt", _polygon, b"1,1 9,2 5,8", (b",", b" ", b"nan", b"1e99")),
        Parser("MAT", "a.mat", read_mat, _mat(), (b"MATLAB 7.3", b"\x0e\0\0\0", b"\x0f\0\0\0")),
        Parser("NPZ of photos", "a.npz", read_npz,
               _npz(photos=np.ones((3, 4, 5, 1), np.uint8), mask=np.ones((4, 5)), K=np.eye(3)),
               (b"PK\x01\x02", b"NUMPY", b"|O", b"photos.npy")),
        Parser("NPZ of a result", "result.npz", load_reconstruction,
               _npz(mask=np.ones(SHAPE, bool), depth=np.ones(SHAPE), K=np.diag([9.0, 9, 1]),
                    lighting=np.ones((4, 3, 9)), normals=-np.ones((*SHAPE, 3))),
               (b"PK\x01\x02", b"NUMPY", b"|O", b"mask.npy")),
        Parser("NPZ of normals", "normals.npz", load_result, _npz(normals=np.ones((*SHAPE, 3)))),
        Parser("NPY", "depth.npy", read_depth_map, _npy(), (b"NUMPY", b"|O", b"<f8", b"(12, 16)")),
        Parser("PFM", "depth.pfm", read_depth_map, _pfm(), (b"PF", b"Pf", b"-1.0", b"nan")),
        Parser("PNG", "a.png", _photo, encoded(_picture(), ".png", None),
               (b"IHDR", b"IDAT", b"iCCP", b"gAMA", b"eXIf", b"tRNS")),
        Parser("PNG 16 bit", "b.png", _photo, encoded(_picture(3, "uint16"), ".png", None)),
        Parser("JPEG", "a.jpg", _photo, encoded(_picture(), ".jpg", None),
               (b"\xff\xda", b"\xff\xc0", b"Exif\0\0", b"\xff\xd9")),
        Parser("TIFF", "a.tif", _photo, encoded(_picture(), ".tif", None), (b"II*\0", b"MM\0*")),
        Parser("EXR", "a.exr", _photo, encoded(_picture(3, "float32"), ".exr", None),
               (b"channels", b"dataWindow", b"compression")),
        Parser("HDR", "a.hdr", _photo, encoded(_picture(3, "float32"), ".hdr", None),
               (b"-Y 12 +X 16", b"#?RADIANCE", b"\x02\x02")),
        Parser("RAW", "a.dng", _photo, dng(_picture(1, "uint16")[..., 0].repeat(3, 0).repeat(3, 1)),
               (b"II*\0", b"Acme", b"\x00\x01\x04\x00", b"\x2a\x88\x05\x00")),
        Parser("mask", "mask.png", lambda p: read_mask(p, SHAPE),
               encoded(_picture(1) // 128 * 255, ".png", None)),
        Parser("depth image", "depth.tif", read_depth_map,
               encoded(_picture(1, "uint16"), ".tif", None)),
        Parser("normal map", "normals.png", load_result,
               encoded(_picture(3, "uint16") // 4 + np.uint16(45000), ".png", None)),
        Parser("PLY", "a.ply", load_mesh, _mesh("ply"), (b"element", b"property", b"list")),
        Parser("OBJ", "a.obj", load_mesh, _mesh("obj"), (b"f ", b"v ", b"usemtl", b"mtllib")),
        Parser("GLB", "a.glb", load_mesh, _mesh("glb"), (b"JSON", b"accessors", b"bufferView")),
        Parser("STL", "a.stl", load_mesh, _mesh("stl"), (b"solid", b"facet")),
        Parser("OFF", "a.off", load_mesh, _mesh("off"), (b"OFF",)),
    )
}  # fmt: skip
"""All of them, by name."""


def described() -> str:
    """Names of all parsers, for people."""
    return json.dumps(list(PARSERS))
