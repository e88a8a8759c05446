"""Axis letters, and the arrays that cross more than one module.

M photos, C channels, H rows, W columns, P masked pixels, K harmonics.
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

Mask: TypeAlias = Bool[np.ndarray, "H W"]
"""True inside the object."""

DepthMap: TypeAlias = Float[np.ndarray, "H W"]
"""Depth along the optical axis; NaN outside the mask."""

NormalMap: TypeAlias = Float[np.ndarray, "H W 3"]
"""Unit normals, camera frame (x right, y down, z forward); NaN outside the mask."""

AlbedoMap: TypeAlias = Float[np.ndarray, "H W C"]
"""Reflectance of each channel; NaN outside the mask."""

Lighting: TypeAlias = Float[np.ndarray, "M C K"]
"""Coefficients of the orthonormal harmonics, the half-cosine's k_l included."""

Photos: TypeAlias = Shaped[np.ndarray, "M H W C"]
"""Photographs as stored: uint8, uint16 or float32."""

Vectors: TypeAlias = Float[np.ndarray, "*n 3"]
"""Vectors of space, in the last axis."""

PixelIndex: TypeAlias = Int[np.ndarray, " P"]
"""For each masked pixel, the number of another one; −1 where there is none."""
