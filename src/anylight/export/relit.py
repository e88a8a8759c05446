"""The object under lamps that were never there."""

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.bands import bands, finite_pixels
from anylight.model.reconstruction import Reconstruction
from anylight.model.rerendering import lamp_light
from anylight.pictures import Sheet, radiance_picture, shrink_by, shrinking
from anylight.threads import in_parallel

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


def relit_previews(scene: Reconstruction, size: int) -> dict[str, Sheet]:
    """Pictures under each of the lamps, none of them longer than a size; none without normals."""
    if scene.normals is None:
        return {}
    normals, albedo = scene.normals, scene.albedo
    mask = scene.mask & finite_pixels(normals)
    white = 1.0
    if albedo is not None:
        mask &= finite_pixels(albedo)
        white = max(float(np.quantile(albedo[mask], 0.995)), 1e-12) if mask.any() else 1.0
    reached = _reached(scene, mask)

    factor = shrinking(mask.shape, size)
    height, width = (side // factor for side in mask.shape)
    pictures = {name: np.empty((height, width, 3), np.uint8) for name in LAMPS}

    def draw(part: slice) -> None:
        """Some rows of all pictures."""
        rows = slice(part.start * factor, part.stop * factor)
        inside = mask[rows]
        own = normals[rows][inside]
        paint = np.full((1, 1), _GREY) if albedo is None else albedo[rows][inside]
        ambient: float | Float[np.ndarray, " n"] = _AMBIENT
        if reached is not None and scene.openness is not None:
            ambient = _AMBIENT * scene.openness[rows][inside]
        for name, lamp in LAMPS.items():
            light = np.maximum(own @ np.array(lamp), 0)
            if reached is not None:
                light = reached[name][rows][inside]
            light = (light * (1 - _AMBIENT) + ambient)[:, None]
            whole = np.full((*inside.shape, 3), _BACKGROUND, np.uint8)
            whole[inside] = radiance_picture(paint * light, white)
            pictures[name][part] = shrink_by(whole, factor)

    in_parallel(draw, bands((height, mask.shape[1] * factor)))
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
