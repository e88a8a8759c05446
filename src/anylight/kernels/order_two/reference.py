"""The kernels in NumPy and float64, written to be read; the others are compared with it."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from anylight.kernels.order_two.basis import polynomial
from anylight.kernels.order_two.protocol import AlbedoSystem, DepthSystem, LightingSystem, Snapshot
from anylight.photometry.harmonics import harmonics
from anylight.photometry.robust import albedo_system, cauchy_weight, light_system


def _residual(snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shading s, residual r and Cauchy weight w of every observation, each (M, C, P)."""
    ρ, light = snapshot.albedo.astype(float), snapshot.lighting
    n = snapshot.normals.T.astype(float)
    s = np.einsum("mck,pk->mcp", light, harmonics(n, 2)[:, : light.shape[2]])
    r = ρ * s - snapshot.scale * snapshot.photos
    return s, r, cauchy_weight(r, snapshot.cauchy_scale)


class ReferenceKernels:
    """NumPy twin."""

    def pack(self, photos: Iterable[np.ndarray], num: int) -> np.ndarray:
        """Stack them to (M, C, P)."""
        stack = np.stack(list(photos))
        assert len(stack) == num
        return stack

    def photometric_energy(self, snapshot: Snapshot) -> float:
        """Σ λ² log(1 + r²/λ²)."""
        _, r, _ = _residual(snapshot)
        λ = snapshot.cauchy_scale
        return float((λ**2 * np.log1p((r / λ) ** 2)).sum())

    def albedo_system(self, snapshot: Snapshot) -> AlbedoSystem:
        """Σ w s², Σ w s I over photos."""
        s, _, w = _residual(snapshot)
        return AlbedoSystem(*albedo_system(s, snapshot.scale * snapshot.photos, w))

    def lighting_system(self, snapshot: Snapshot) -> LightingSystem:
        """Σ w ρ² h hᵀ, Σ w ρ I h over pixels."""
        _, _, w = _residual(snapshot)
        ρ, h = snapshot.albedo.astype(float), harmonics(snapshot.normals.T.astype(float), 2)
        painted = [ρ_c[:, None] * h for ρ_c in ρ]
        seen = snapshot.scale * snapshot.photos
        systems = [
            [light_system(p, i_c, w_c) for p, i_c, w_c in zip(painted, i, w_m, strict=True)]
            for i, w_m in zip(seen, w, strict=True)
        ]
        gram = np.array([[one for one, _ in photo] for photo in systems])
        source = np.array([[other for _, other in photo] for photo in systems])
        return LightingSystem(gram, source)

    def depth_system(self, snapshot: Snapshot) -> DepthSystem:
        """Σ w ρ² g gᵀ, Σ w ρ r g over photos and channels."""
        _, r, w = _residual(snapshot)
        ρ = snapshot.albedo.astype(float)
        g = _gradient(snapshot)
        blocks = np.stack(
            [(w * ρ**2 * g[a] * g[b]).sum((0, 1)) for a in range(3) for b in range(a, 3)]
        )
        return DepthSystem(blocks, np.stack([(w * ρ * r * g[a]).sum((0, 1)) for a in range(3)]))


def _gradient(snapshot: Snapshot) -> Float[np.ndarray, "3 M C P"]:
    """Derivative of the shading polynomial (the paper's basis) by the normal."""
    a = np.moveaxis(polynomial(snapshot.lighting), -1, 0)[..., None]
    x, y, z = snapshot.normals.astype(float)
    return np.stack(
        [
            a[1] + a[4] * y + a[5] * z + 2 * a[7] * x,
            a[2] + a[4] * x + a[6] * z - 2 * a[7] * y,
            a[3] + a[5] * x + a[6] * y + 2 * a[8] * z,
        ]
    )
