"""What is known about a scene: the truth of a rendering, or the result of a run."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from anylight.arrays import AlbedoMap, DepthMap, Lighting, Mask, NormalMap
from anylight.geometry.camera import Camera


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Shape, albedo and light on the full grid of the photos, in the camera frame.

    NaN outside the mask. What is not known is None.
    """

    mask: Mask
    camera: Camera | None = None
    depth: DepthMap | None = None
    normals: NormalMap | None = None
    albedo: AlbedoMap | None = None
    lighting: Lighting | None = None
    photos: Int[np.ndarray, " M"] | None = None
    """Which photos of the capture the lighting belongs to; None means all, in order."""
    confidence: Float[np.ndarray, "H W"] | None = None
    """How sure every normal is, 0 to 1: one half at a standard deviation of five degrees."""
    openness: Float[np.ndarray, "H W"] | None = None
    """Share of an even sky that reaches every pixel, 0 to 1, where the surface hides light from
    itself (ambient occlusion); None if cast shadows are not part of the explanation."""
    lamps: Float[np.ndarray, "M C D"] | None = None
    """Strengths of the lamps (`anylight.sky.lamp_directions`) that light every photo, if cast
    shadows are part of the explanation: `lighting` is what they do where nothing hides them."""
    bounce: Float[np.ndarray, " C"] | None = None
    """With `lamps`: directions that the object hides from a pixel give so much of what the object
    around it radiates. Times the albedo it is the absolute albedo, as far as the photos tell."""
    near_light: Float[np.ndarray, "M C A"] | None = None
    """Light of lamps that are near (all degrees of harmonics): how `lighting`, which is that in
    the middle of the object, changes from there (see `anylight.photometry.near`)."""
    closeness: float = 0.0
    """Size of the object over the distance of the lamps; 0: they are far."""
    exposures: Float[np.ndarray, " M"] | None = None
    """Relative exposure of every photo, if known: its light is `lighting` divided by this."""
    unit: Literal["mm"] | None = None
    """Unit of the depth; None: the scale is free (orthographic: pixels)."""
    pixel_mm: float | None = None
    """Size of a pixel behind an orthographic camera, if known."""

    def __repr__(self) -> str:
        height, width = self.mask.shape
        names = ("depth", "normals", "albedo", "lighting", "confidence", "openness")
        known = ", ".join(name for name in names if getattr(self, name) is not None)
        return (
            f"Reconstruction({width}×{height}, {np.count_nonzero(self.mask)} pixels on the object: "
            f"{known or 'nothing known'})"
        )


def outside_nan(image: Float[np.ndarray, "H W *c"], mask: Mask) -> Float[np.ndarray, "H W *c"]:
    """Copy an image with NaN outside the mask."""
    result = np.array(image, dtype=float)
    result[~mask] = np.nan
    return result
