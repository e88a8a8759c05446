"""Surfaces as bytes for the viewer: a header in JSON, then arrays, each at a multiple of four."""

import json
from typing import Any

import numpy as np
from jaxtyping import Shaped, UInt8

from anylight.geometry.normals import depth_normals
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.transfer import screen_bytes
from anylight.report.relief import relief
from anylight.report.textures import rgb, spread
from anylight.report.window import Window, object_window, reduced


def packed_scene(scene: Reconstruction, vertices: int, longest: int, **facts: Any) -> bytes | None:
    """A scene as the viewer takes it; None where there is no surface to show.

    Args:
        scene: with depth and camera.
        vertices: of the mesh, at most.
        longest: side of the textures, at most.
        **facts: further entries of the header.
    """
    if scene.depth is None or scene.camera is None:
        return None
    window = object_window(scene.mask)
    normals = scene.normals
    if normals is None:
        normals = depth_normals(scene.camera, scene.depth, scene.mask)
    depth = np.where(scene.mask, scene.depth, np.nan)
    mesh = relief(scene.camera, depth, normals, window, vertices)
    if mesh is None:
        return None
    arrays: dict[str, np.ndarray] = {
        "cells": mesh.cells,
        "positions": mesh.positions,
        "pixels": mesh.pixels,
    }
    factor = -(-max(window.height, window.width) // longest)
    arrays["bumps"] = _bumps(normals, scene.mask, window, factor)
    header: dict[str, Any] = {
        "grid": list(mesh.cells.shape),
        "size": mesh.size.tolist(),
        "origin": [window.left, window.top],
        "window": [window.width, window.height],
        "span": [-(-side // factor) * factor for side in (window.width, window.height)],
        "white": 1.0,
        **facts,
    }
    if scene.albedo is not None:
        header["white"], arrays["paint"] = _paint(scene, window, factor)
    return packed(header, arrays)


def packed(header: dict[str, Any], arrays: dict[str, Shaped[np.ndarray, "..."]]) -> bytes:
    """A header and named arrays, little-endian."""
    at, places, blobs = 0, {}, []
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        places[name] = {"at": at, "bytes": len(little), "shape": list(array.shape)}
        blobs.append(little + bytes(-len(little) % 4))
        at += len(blobs[-1])
    words = json.dumps({**header, "arrays": places}, separators=(",", ":")).encode()
    words += b" " * (-len(words) % 4)
    return len(words).to_bytes(4, "little") + words + b"".join(blobs)


def _bumps(
    normals: np.ndarray, mask: np.ndarray, window: Window, factor: int
) -> UInt8[np.ndarray, "h w 3"]:
    image = window.thin(normals) * np.array([1.0, -1.0, -1.0])
    inside = window.thin(mask) & np.isfinite(image).all(axis=2)
    values, held = reduced(image, inside, factor)
    length = np.maximum(np.linalg.norm(values, axis=2, keepdims=True), 1e-12)
    return spread(np.round((values / length + 1) * 127.5).astype(np.uint8), held)


def _paint(
    scene: Reconstruction, window: Window, factor: int
) -> tuple[float, UInt8[np.ndarray, "h w 3"]]:
    assert scene.albedo is not None
    image = rgb(window.thin(scene.albedo))
    inside = window.thin(scene.mask) & np.isfinite(image).all(axis=2)
    white = max(float(np.quantile(image[inside], 0.995)) if inside.any() else 1.0, 1e-12)
    values, held = reduced(np.nan_to_num(image), inside, factor)
    return white, spread(screen_bytes(values / white), held)
