"""The object under lamps that were never there."""

import numpy as np
from jaxtyping import Bool, Float

from anylight.model.reconstruction import Reconstruction
from anylight.model.rerendering import lamp_light
from anylight.pictures import Picture, radiance_picture, shrink

LAMPS = {
    "left": (-0.8, 0.0, -0.6),
    "right": (0.8, 0.0, -0.6),
    "top": (0.0, -0.8, -0.6),
    "front": (0.0, 0.0, -1.0),
}
"""Directions to the lamps, camera frame."""

_AMBIENT = 0.04
_GREY = 0.7
"""Albedo of a surface whose own is not known."""
_BACKGROUND = 26


def relit_previews(scene: Reconstruction, size: int) -> dict[str, Picture]:
    """Pictures under each of the lamps, none of them longer than a size; none without normals."""
    if scene.normals is None:
        return {}
    mask = scene.mask & np.isfinite(scene.normals).all(axis=-1)
    albedo = np.full((*mask.shape, 1), _GREY)
    white = 1.0
    if scene.albedo is not None:
        mask &= np.isfinite(scene.albedo).all(axis=-1)
        albedo = scene.albedo
        white = max(float(np.quantile(albedo[mask], 0.995)), 1e-12) if mask.any() else 1.0
    normals, albedo = (np.where(mask[..., None], field, 0) for field in (scene.normals, albedo))
    reached = _reached(scene, mask)
    pictures = {}
    for name, lamp in LAMPS.items():
        light = np.maximum(normals @ np.array(lamp), 0)
        ambient = np.full(mask.shape, _AMBIENT)
        if reached is not None and scene.openness is not None:
            light = reached[name]
            ambient = _AMBIENT * np.where(mask, scene.openness, 0)
        light = light * (1 - _AMBIENT) + ambient
        picture = radiance_picture(albedo * light[..., None], white)
        picture[~mask] = _BACKGROUND
        pictures[name] = shrink(picture, size)
    return pictures


def _reached(
    scene: Reconstruction, mask: Bool[np.ndarray, "H W"]
) -> dict[str, Float[np.ndarray, "H W"]] | None:
    """Light of each lamp with the shadows that the object casts on itself; None if unknown."""
    if scene.openness is None or scene.depth is None or scene.camera is None:
        return None
    rows, columns = np.nonzero(mask)
    directions = np.array(list(LAMPS.values()), np.float32)
    each = np.eye(len(LAMPS))[:, None]
    light = np.zeros((len(LAMPS), *mask.shape))
    light[:, rows, columns] = lamp_light(scene, each, directions, rows, columns)[:, 0]
    return dict(zip(LAMPS, light, strict=True))
