"""Directions spread evenly over the sphere."""

import numpy as np
from jaxtyping import Float


def even_directions(num: int) -> Float[np.ndarray, "n 3"]:
    """So many unit vectors on a golden spiral, from +z to −z."""
    index = np.arange(num) + 0.5
    height = 1 - 2 * index / num
    angle = np.pi * (1 + np.sqrt(5)) * index
    radius = np.sqrt(1 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
