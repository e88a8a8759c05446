"""How large the parts of a report may be."""

from dataclasses import dataclass, replace
from math import sqrt

_SMALLEST_THUMB = 120


@dataclass(frozen=True)
class Budget:
    """Lengths are longest sides in pixels."""

    vertices: int = 250_000
    paint: int = 2048
    """Texture of colours."""
    bumps: int = 1600
    """Texture of normals."""
    figure: int = 900
    """Pictures of the shape."""
    thumb: int = 320
    """Photos and their re-renderings."""
    quality: int = 86
    """Of JPEG pictures."""
    photos: int = 25
    """How many photos are shown."""

    def smaller(self, ratio: float) -> "Budget":
        """Shrink everything so that about a ratio of the bytes remains.

        Photos that would become too small to look at are left out instead.
        """
        side = sqrt(ratio)
        thumb = int(self.thumb * side)
        photos = self.photos if thumb >= _SMALLEST_THUMB else int(self.photos * ratio)
        return replace(
            self,
            vertices=max(int(self.vertices * ratio), 500),
            paint=max(int(self.paint * side), 32),
            bumps=max(int(self.bumps * side), 32),
            figure=max(int(self.figure * side), 32),
            thumb=max(thumb, _SMALLEST_THUMB),
            quality=max(self.quality - 4, 60),
            photos=photos,
        )


def first_budget(photos: int, limit: float) -> Budget:
    """A budget whose photos are likely to take less than half of a limit in bytes."""
    thumb = int(sqrt(limit / (4 * max(photos, 1))))
    return Budget(thumb=min(max(thumb, _SMALLEST_THUMB), Budget.thumb), photos=photos)
