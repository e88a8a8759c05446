"""Of all lights that shade the object alike, the one with the least radiance."""

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting
from anylight.photometry.harmonics import half_cosines, harmonics, order_of

_TOLERANCE = 1e-2
"""Change of the shading that is allowed, root mean square. [share]"""
_WEIGHTS = 10.0 ** np.arange(-12, 3, 0.5)
"""Costs of radiance that are tried. (definition)"""


def faintest_light(lighting: Lighting, normals: Float[np.ndarray, "P 3"]) -> Lighting:
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
    for weight in _WEIGHTS:
        found = flat @ np.linalg.solve(gram + weight * cost, gram).T
        change = found - flat
        alike = np.einsum("nk,kl,nl->n", change, gram, change) <= _TOLERANCE**2 * power
        best[alike] = found[alike]
    return best.reshape(lighting.shape)
