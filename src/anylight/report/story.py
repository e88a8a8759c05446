"""What a report tells: a run from the doctor's first look to the last number."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped

from anylight.arrays import Photos
from anylight.model.finding import Finding
from anylight.model.reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class Story:
    """A run and everything that its report shows."""

    title: str
    """Name of the capture; comes from outside and is never trusted."""
    scene: Reconstruction
    """The result on the full grid of the photos."""
    photos: Photos
    """Those that were used, as stored."""
    full_scale: float
    """Stored value that means a radiance of one."""
    names: tuple[str, ...]
    """File name of every photo; may be empty, is never trusted."""
    before: tuple[Finding, ...]
    """What the doctor said before the run."""
    after: tuple[Finding, ...]
    """What the doctor said after the run."""
    energies: tuple[tuple[str, float], ...]
    """Stage and energy per pixel of every step, in order."""
    facts: Mapping[str, str]
    """Status, seconds, number of photos, order, start, unit …"""
    options: Mapping[str, object]
    versions: Mapping[str, str]

    def __post_init__(self) -> None:
        lighting = self.scene.lighting
        if self.photos.shape[1:3] != self.scene.mask.shape:
            raise ValueError("the photos and the scene are of different sizes")
        if lighting is not None and lighting.shape[:2] != (len(self.photos), self.photos.shape[3]):
            raise ValueError("the lighting does not belong to the photos")

    def radiance(self, stored: Shaped[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """Linear light of stored values; zero where they are not finite."""
        light = stored.astype(np.float32) / np.float32(self.full_scale)
        return np.nan_to_num(light, posinf=0, neginf=0)

    def name(self, photo: int) -> str:
        """File name of a photo, or its number where it has none."""
        return self.names[photo] if photo < len(self.names) else f"photo {photo + 1}"
