"""How much of every photo albedo and light leave unexplained."""

import numpy as np
from jaxtyping import Float, Shaped

from anylight.model.reconstruction import Reconstruction
from anylight.model.rerendering import rerendered
from anylight.model.samples import is_saturated

_SAMPLES = 20_000
_EXPLICABLE = 0.9
"""Share of the pixels by which photos are judged."""


def photo_misfits(
    scene: Reconstruction, photos: Shaped[np.ndarray, "M H W C"], full_scale: float
) -> Float[np.ndarray, " M"] | None:
    """Root mean square of what is unexplained, relative to each photo; None if nothing explains.

    Pixels that most photos leave unexplained are left out: there the shape is at fault. Saturated
    samples count as explained.

    Args:
        scene: the result.
        photos: those that the scene's light belongs to.
        full_scale: stored value that means a radiance of one.
    """
    if scene.albedo is None or scene.normals is None or scene.lighting is None:
        return None
    rows, columns = np.nonzero(scene.mask)
    step = max(1, len(rows) // _SAMPLES)
    rows, columns = rows[::step], columns[::step]
    stored = photos[:, rows, columns]
    seen = stored / full_scale
    shown = rerendered(scene, rows, columns)
    missed = np.where(is_saturated(stored), 0.0, seen - np.moveaxis(shown, 1, 2))
    known = np.isfinite(missed).all(axis=(0, 2))
    if not known.any():
        return None
    power, left = (seen[:, known] ** 2).mean(axis=2), (missed[:, known] ** 2).mean(axis=2)
    usual = np.median(left / np.maximum(power.mean(axis=1, keepdims=True), 1e-30), axis=0)
    kept = usual <= np.quantile(usual, _EXPLICABLE)
    misfits: Float[np.ndarray, " M"] = np.sqrt(
        left[:, kept].mean(axis=1) / np.maximum(power[:, kept].mean(axis=1), 1e-30)
    )
    return misfits
