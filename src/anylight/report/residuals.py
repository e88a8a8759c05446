"""How well the result explains every photo, on a sample of the pixels."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.model.misfit import photo_misfits
from anylight.model.rerendering import rerendered

from .story import Story

_SAMPLE = 40_000
_SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is common to the pictures of all photos."""

    whites: Float[np.ndarray, " M"]
    """Radiance that is shown as white."""
    relative: Float[np.ndarray, " M"] | None
    """What is unexplained of every photo (see `photo_misfits`)."""
    scale: float
    """Residual over white that is shown in full colour."""


def residuals(story: Story) -> Residuals:
    """Compare the photos with albedo times shading."""
    scene = story.scene
    rows, columns = np.nonzero(scene.mask)
    step = -(-len(rows) // _SAMPLE)
    rows, columns = rows[::step], columns[::step]
    explained = scene.normals is not None and scene.albedo is not None
    shown = rerendered(scene, rows, columns) if explained and scene.lighting is not None else None
    whites, large = [], [_SCALES[0]]
    for index, photo in enumerate(story.photos):
        seen = story.radiance(photo[rows, columns])
        white = max(float(np.quantile(seen, 0.995)), 1e-12)
        whites.append(white)
        if shown is None:
            continue
        left = seen - shown[index].T
        known = np.isfinite(left)
        if known.any():
            large.append(float(np.quantile(np.abs(left[known]), 0.98)) / white)
    wanted = float(np.median(large[1:])) if len(large) > 1 else large[0]
    scale = next((scale for scale in _SCALES if scale >= wanted), _SCALES[-1])
    relative = photo_misfits(scene, story.photos, story.full_scale)
    return Residuals(np.array(whites), relative, scale)
