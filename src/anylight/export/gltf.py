"""GLB: a textured mesh in one file that browsers and modellers open (glTF 2.0)."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped, UInt8

from anylight.io.images import jpeg_bytes, png_bytes

from .surface import FRAME, SurfaceMesh

_JPEG_QUALITY = 92
_MAX_PNG_TEXELS = 1_000_000
"""Larger textures become JPEG, to stay small."""

_FLOAT, _UINT = 5126, 5125
_VERTICES, _INDICES = 34962, 34963
_LINEAR, _MIPMAPS, _CLAMP = 9729, 9987, 33071


def write_glb(path: Path, mesh: SurfaceMesh) -> None:
    """Write a mesh, in metres if its unit is known; the same values give the same bytes."""
    if len(mesh.faces) == 0:
        raise ValueError("a GLB cannot hold an empty mesh")
    scale = 0.001 if mesh.unit == "mm" else 1.0
    position = (mesh.vertices * np.float32(scale)).astype("<f4")
    image, mime = _encoded(mesh.texture)
    blocks = [
        _bytes(position),
        _bytes(mesh.normals.astype("<f4", copy=False)),
        _bytes(mesh.uv.astype("<f4", copy=False)),
        _bytes(mesh.faces.astype("<u4", copy=False)),
        memoryview(image),
    ]
    count = len(position)
    document = {
        "asset": {
            "version": "2.0",
            "generator": "anylight",
            "extras": {
                "unit": "metre" if mesh.unit == "mm" else "arbitrary",
                "frame": FRAME,
                "origin": [value * scale for value in mesh.origin],
            },
        },
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "surface"}],
        "meshes": [
            {
                "primitives": [
                    {
                        "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2},
                        "indices": 3,
                        "material": 0,
                    }
                ]
            }
        ],
        "materials": [
            {
                "name": "albedo",
                "doubleSided": True,
                "pbrMetallicRoughness": {
                    "baseColorTexture": {"index": 0},
                    "metallicFactor": 0.0,
                    "roughnessFactor": 1.0,
                },
            }
        ],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [
            {"magFilter": _LINEAR, "minFilter": _MIPMAPS, "wrapS": _CLAMP, "wrapT": _CLAMP}
        ],
        "images": [{"bufferView": 4, "mimeType": mime, "name": "albedo"}],
        "accessors": [
            {
                **_accessor(0, _FLOAT, "VEC3", count),
                "min": position.min(0).tolist(),
                "max": position.max(0).tolist(),
            },
            _accessor(1, _FLOAT, "VEC3", count),
            _accessor(2, _FLOAT, "VEC2", count),
            _accessor(3, _UINT, "SCALAR", mesh.faces.size),
        ],
        "bufferViews": _views(blocks, [_VERTICES, _VERTICES, _VERTICES, _INDICES, None]),
    }
    length = sum(len(block) + len(_padding(block, b"\0")) for block in blocks)
    document["buffers"] = [{"byteLength": length}]
    head = json.dumps(document, separators=(",", ":")).encode()
    head += _padding(head, b" ")
    with path.open("wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(head) + 8 + length))
        file.write(struct.pack("<I4s", len(head), b"JSON") + head)
        file.write(struct.pack("<I4s", length, b"BIN\0"))
        for block in blocks:
            file.write(block)
            file.write(_padding(block, b"\0"))


def _accessor(view: int, component: int, kind: str, count: int) -> dict[str, Any]:
    return {"bufferView": view, "componentType": component, "type": kind, "count": count}


def _bytes(array: Shaped[np.ndarray, "..."]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _views(blocks: list[memoryview], targets: list[int | None]) -> list[dict[str, int]]:
    views, start = [], 0
    for block, target in zip(blocks, targets, strict=True):
        view = {"buffer": 0, "byteOffset": start, "byteLength": len(block)}
        views.append(view if target is None else {**view, "target": target})
        start += len(block) + len(_padding(block, b"\0"))
    return views


def _padding(block: bytes | memoryview, filler: bytes) -> bytes:
    """What is missing to whole words."""
    return filler * (-len(block) % 4)


def _encoded(texture: UInt8[np.ndarray, "h w 3"]) -> tuple[bytes, str]:
    """Bytes of an image file and their type."""
    if texture.shape[0] * texture.shape[1] <= _MAX_PNG_TEXELS:
        return png_bytes(texture), "image/png"
    return jpeg_bytes(texture, _JPEG_QUALITY), "image/jpeg"
