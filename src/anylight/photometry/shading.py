r"""The image model $I = \rho\, \langle \ell, h(n)\rangle$, once (paper, eq. 7)."""

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting

from .harmonics import half_cosines, harmonics, order_of


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


def settled(
    lighting: Lighting, normals: Float[np.ndarray, "P 3"], tolerance: float = 1e-2
) -> Lighting:
    """The faintest light that shades these normals alike.

    Normals that face the camera see half of the sphere, so harmonics can trade with each other and
    with light from behind; of all lights within a tolerance (relative, root mean square) of the
    same shading this takes, for every photo and channel, the one with the least radiance.
    """
    order = order_of(lighting.shape[-1])
    basis = harmonics(normals, order)
    gram = basis.T @ basis / len(basis)
    cost = np.diag(1 / half_cosines(order) ** 2)
    flat = lighting.reshape(-1, lighting.shape[-1])
    power = np.einsum("nk,kl,nl->n", flat, gram, flat)
    best = flat.copy()
    for weight in 10.0 ** np.arange(-12, 3, 0.5):
        found = flat @ np.linalg.solve(gram + weight * cost, gram).T
        change = found - flat
        alike = np.einsum("nk,kl,nl->n", change, gram, change) <= tolerance**2 * power
        best[alike] = found[alike]
    return best.reshape(lighting.shape)
