"""The photos as a result explains them: albedo times the light that reaches every pixel."""

import numpy as np
from jaxtyping import Float, Int

from anylight.model.reconstruction import Reconstruction
from anylight.photometry.shading import shading
from anylight.sky import Sky, lamp_directions

_CHUNK = 4096
"""Pixels that are looked at together. (memory)"""


def rerendered(
    scene: Reconstruction, rows: Int[np.ndarray, " n"], columns: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "M C n"]:
    """Radiance of some pixels in every photo; normals, albedo and lighting must be known."""
    assert scene.normals is not None
    assert scene.albedo is not None
    assert scene.lighting is not None
    albedo = scene.albedo[rows, columns].T
    if scene.lamps is None or scene.depth is None or scene.camera is None:
        return albedo * shading(scene.lighting, scene.normals[rows, columns])
    directions = lamp_directions(scene.lamps.shape[2])
    return albedo * lamp_light(scene, scene.lamps, directions, rows, columns)


def lamp_light(
    scene: Reconstruction,
    strength: Float[np.ndarray, "M C D"],
    directions: Float[np.ndarray, "D 3"],
    rows: Int[np.ndarray, " n"],
    columns: Int[np.ndarray, " n"],
) -> Float[np.ndarray, "M C n"]:
    """Shading of some pixels under far lamps, with the shadows that the surface casts on itself."""
    assert scene.depth is not None
    assert scene.camera is not None
    assert scene.normals is not None
    inside = scene.mask & np.isfinite(scene.depth)
    sky = Sky(inside, scene.camera, directions)
    depth = np.where(inside, scene.depth, 0).astype(np.float32)
    chosen = np.stack([rows, columns], axis=1).astype(np.int32)
    sine = sky.rise(depth, chosen)
    normals = np.nan_to_num(scene.normals[rows, columns]).astype(np.float32)
    flat = strength.reshape(-1, strength.shape[2]).T.astype(np.float32)
    out = np.empty((len(rows), flat.shape[1]), np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        aim = sky.aim(chosen[part])
        through = sky.passes(normals[part], sine[part], chosen[part], aim)
        out[part] = (through * np.maximum(normals[part] @ sky.lamps.T, 0)) @ flat
    return out.T.reshape(*strength.shape[:2], len(rows)).astype(float)
