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


def balanced(
    albedo: Float[np.ndarray, "C P"], lighting: Lighting, colour: Float[np.ndarray, " C"]
) -> tuple[Float[np.ndarray, "C P"], Lighting]:
    """Divide brightness and colour between paint and light, which photos do not tell.

    Light is as white as the photos allow: the object as a whole has the colour of its mean photo.
    The largest albedo is one.
    """
    mean = albedo.mean(axis=1)
    scale = np.ones(len(albedo))
    if ((mean > 0) & (colour > 0)).all():
        scale = mean / colour
    scale *= float((albedo / scale[:, None]).max()) or 1.0
    return albedo / scale[:, None], lighting * scale[:, None]
