r"""The image model $I = \rho\, \langle \ell, h(n)\rangle$, once (paper, eq. 7)."""

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting

from .harmonics import harmonics, order_of


def shading(lighting: Lighting, normals: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "M C P"]:
    """Intensity of a white surface in every photo and channel."""
    basis = harmonics(normals, order_of(lighting.shape[-1]))
    return np.einsum("mck,pk->mcp", lighting, basis)


def intensity(
    albedo: Float[np.ndarray, "C P"], lighting: Lighting, normals: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, "M C P"]:
    """Intensity of a surface with albedo in every photo and channel."""
    return albedo * shading(lighting, normals)
