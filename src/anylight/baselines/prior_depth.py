r"""Depth by first-order light, held to a prior: one linear system per step.

With $\theta = |\tilde n|$ of the last depth held fixed, the shading
$s \cdot (\tilde n / \theta, 1)$ is linear in $(z, \partial_u z, \partial_v z)$, so that

    min |z − z⁰|² + λ Σ (ρ s·(ñ(z)/θ, 1) − I)²

is a nine-point stencil. Differences are forward, backward where the next pixel is missing.
"""

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Perspective
from anylight.geometry.domain import Domain
from anylight.kernels import pixel_differences as surface
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid
from anylight.linalg.pcg import pcg

_RTOL = 1e-9
_MAX_ITERATIONS = 200


class PriorDepth:
    """The masked pixels of a perspective camera, ready for depth steps."""

    def __init__(self, camera: Perspective, domain: Domain) -> None:
        self._camera = camera.numbers
        self._domain = domain
        self._grid = Grid(domain.mask)
        self._near = surface.neighbours(self._grid.inside, backward=True)

    def normals(
        self, depth: Float[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, "3 P"], Float[np.ndarray, " P"]]:
        """Unit normals of a depth, and their lengths θ before normalisation."""
        unit, length = np.empty((3, len(depth))), np.empty(len(depth))
        spread = self._grid.spread(depth).ravel()
        surface.normals(spread, self._near, self._camera, self._domain.pixels, unit, length)
        return unit, length

    def solve(
        self,
        prior: Float[np.ndarray, " P"],
        products: Float[np.ndarray, "6 P"],
        source: Float[np.ndarray, "3 P"],
        length: Float[np.ndarray, " P"],
        start: Float[np.ndarray, " P"],
    ) -> Float[np.ndarray, " P"]:
        """Depth that minimises |z − z⁰|² + Σ_p (nᵀ G n − 2 g·n) with n = ñ(z)/θ.

        Args:
            prior: the depth z⁰.
            products: G of every pixel, as xx, xy, xz, yy, yz, zz.
            source: g of every pixel.
            length: the lagged θ.
            start: where the iteration begins.
        """
        form, gradient = np.empty((6, len(prior))), np.empty((3, len(prior)))
        surface.pull_back(
            products, source, length, self._camera, self._domain.pixels, form, gradient
        )
        form[0] += 1.0
        gradient[0] += prior
        operator = surface.assemble(form, self._near, self._grid.shape)
        wanted = surface.scatter(gradient, self._near, self._grid.shape)
        first = self._grid.spread(start)
        found = pcg(operator, wanted, Multigrid(operator), _RTOL, _MAX_ITERATIONS, first)
        return self._grid.collect(found.solution)
