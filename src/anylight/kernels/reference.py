"""The kernels in NumPy and float64, written to be read; the others are compared with it."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from anylight.photometry.harmonics import harmonics

from .basis import polynomial
from .protocol import AlbedoSystem, DepthSystem, LightingSystem, View


def _residual(view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shading s, residual r and Cauchy weight w of every observation, each (M, C, P)."""
    ρ, light = view.albedo.astype(float), view.lighting
    n = view.normals.T.astype(float)
    s = np.einsum("mck,pk->mcp", light, harmonics(n, 2)[:, : light.shape[2]])
    r = ρ * s - view.scale * view.photos
    return s, r, 1 / (1 + (r / view.cauchy_scale) ** 2)


class ReferenceKernels:
    """NumPy twin."""

    def pack(self, photos: Iterable[np.ndarray], num: int) -> np.ndarray:
        """Stack them to (M, C, P)."""
        stack = np.stack(list(photos))
        assert len(stack) == num
        return stack

    def photometric_energy(self, view: View) -> float:
        """Σ λ² log(1 + r²/λ²)."""
        _, r, _ = _residual(view)
        λ = view.cauchy_scale
        return float((λ**2 * np.log1p((r / λ) ** 2)).sum())

    def albedo_system(self, view: View) -> AlbedoSystem:
        """Σ w s², Σ w s I over photos."""
        s, _, w = _residual(view)
        return AlbedoSystem((w * s * s).sum(0), (w * s * view.scale * view.photos).sum(0))

    def lighting_system(self, view: View) -> LightingSystem:
        """Σ w ρ² h hᵀ, Σ w ρ I h over pixels."""
        _, _, w = _residual(view)
        ρ, h = view.albedo.astype(float), harmonics(view.normals.T.astype(float), 2)
        gram = np.einsum("mcp,pa,pb->mcab", w * ρ**2, h, h, optimize=True)
        source = np.einsum("mcp,pa->mca", w * ρ * view.scale * view.photos, h)
        return LightingSystem(gram, source)

    def depth_system(self, view: View) -> DepthSystem:
        """Σ w ρ² g gᵀ, Σ w ρ r g over photos and channels."""
        _, r, w = _residual(view)
        ρ = view.albedo.astype(float)
        g = _gradient(view)
        blocks = np.stack(
            [(w * ρ**2 * g[a] * g[b]).sum((0, 1)) for a in range(3) for b in range(a, 3)]
        )
        return DepthSystem(blocks, np.stack([(w * ρ * r * g[a]).sum((0, 1)) for a in range(3)]))


def _gradient(view: View) -> Float[np.ndarray, "3 M C P"]:
    """Derivative of the shading polynomial (the paper's basis) by the normal."""
    a = np.moveaxis(polynomial(view.lighting), -1, 0)[..., None]
    x, y, z = view.normals.astype(float)
    return np.stack(
        [
            a[1] + a[4] * y + a[5] * z + 2 * a[7] * x,
            a[2] + a[4] * x + a[6] * z - 2 * a[7] * y,
            a[3] + a[5] * x + a[6] * y + 2 * a[8] * z,
        ]
    )
