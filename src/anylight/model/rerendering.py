"""The photos as a result explains them: albedo times the light that reaches every pixel."""

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from anylight.kernels.monomials import near_terms, place_fields
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.near import NearLight, brightening, relative_places
from anylight.photometry.shading import shading
from anylight.sky import Sky, lamp_directions, surroundings

_CHUNK = 4096
"""Pixels that are looked at together. (memory)"""
_FEW = 4000
"""Pixels whose radiance stands for that of their surroundings."""
_BOUNCES = 3
"""How often light goes from one part of the object to another."""


def rerendered(
    scene: Reconstruction, rows: Int[np.ndarray, " n"], columns: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "M C n"]:
    """Radiance of some pixels in every photo; normals, albedo and lighting must be known."""
    assert scene.normals is not None
    assert scene.albedo is not None
    assert scene.lighting is not None
    albedo = scene.albedo[rows, columns].T
    if scene.near_light is not None:
        albedo = albedo * _brightening(scene, scene.near_light, rows, columns)
    if scene.lamps is None or scene.depth is None or scene.camera is None:
        return albedo * shading(scene.lighting, scene.normals[rows, columns])
    directions = lamp_directions(scene.lamps.shape[2])
    light = lamp_light(scene, scene.lamps, directions, rows, columns)
    if scene.bounce is not None and scene.openness is not None:
        hidden = 1 - np.nan_to_num(scene.openness[rows, columns], nan=1.0)
        around = _surroundings(scene, directions, rows, columns)
        light = light + scene.bounce[:, None] * hidden * around
    return albedo * light


def _brightening(
    scene: Reconstruction,
    light: Float[np.ndarray, "M C A"],
    rows: Int[np.ndarray, " n"],
    columns: Int[np.ndarray, " n"],
) -> Float[np.ndarray, "M C n"]:
    """How many times more of the light of near lamps reaches some pixels than the middle."""
    assert scene.depth is not None
    assert scene.camera is not None
    assert scene.normals is not None
    inside = scene.mask & np.isfinite(scene.depth)
    v, u = np.nonzero(inside)
    places = np.zeros((*scene.mask.shape, 3))
    points = scene.camera.points(u.astype(float), v.astype(float), scene.depth[inside])
    places[inside] = relative_places(points)
    near = NearLight(scene.closeness, light)
    normals = np.nan_to_num(scene.normals[rows, columns])
    here = place_fields(places[rows, columns])
    response = near_terms(normals.T, here, near.order, near.closeness)
    return brightening(near, normals, response)


def _surroundings(
    scene: Reconstruction,
    directions: Float[np.ndarray, "D 3"],
    rows: Int[np.ndarray, " n"],
    columns: Int[np.ndarray, " n"],
) -> Float[np.ndarray, "M C n"]:
    """What the object around some pixels radiates in every photo, from fewer pixels."""
    assert scene.albedo is not None
    assert scene.lamps is not None
    assert scene.bounce is not None
    assert scene.openness is not None
    step = max(1, int(np.ceil(np.sqrt(np.count_nonzero(scene.mask) / _FEW))))
    mask = scene.mask[step // 2 :: step, step // 2 :: step]
    some = [step * place + step // 2 for place in np.nonzero(mask)]
    albedo = np.nan_to_num(scene.albedo[tuple(some)].T)
    light = lamp_light(scene, scene.lamps, directions, *some)
    hidden = 1 - np.nan_to_num(scene.openness[tuple(some)], nan=1.0)
    around = np.zeros_like(light)
    for _ in range(_BOUNCES):
        radiance = albedo * (light + scene.bounce[:, None] * hidden * around)
        flat = radiance.reshape(-1, len(hidden)).T.astype(np.float32)
        around = surroundings(mask, flat).T.reshape(light.shape)
    near = ndimage.distance_transform_edt(~mask, return_distances=False, return_indices=True)
    numbers = np.zeros(mask.shape, int)
    numbers[mask] = np.arange(len(hidden))
    r, c = (np.minimum(p // step, n - 1) for p, n in zip((rows, columns), mask.shape, strict=True))
    return around[:, :, numbers[near[0][r, c], near[1][r, c]]]


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
