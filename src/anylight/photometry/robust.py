r"""Robust least squares for what the image model is linear in: albedo and light.

Cauchy's penalty $\lambda^2 \log(1 + r^2/\lambda^2)$ is minimised by reweighting: every residual
counts $w = 1/(1 + r^2/\lambda^2)$. Compiled kernels evaluate the same sums faster.
"""

import numpy as np
from jaxtyping import Float


def cauchy_weight(residual: Float[np.ndarray, "*n"], scale: float) -> Float[np.ndarray, "*n"]:
    """Weight of residuals; one half at the scale λ."""
    return 1 / (1 + residual**2 / residual.dtype.type(scale**2))


def albedo_system(
    shading: Float[np.ndarray, "M ..."],
    intensity: Float[np.ndarray, "M ..."],
    weight: Float[np.ndarray, "M ..."],
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Σ w s² and Σ w s I over the photos: the albedo's best value is their ratio."""
    return (weight * shading**2).sum(axis=0), (weight * shading * intensity).sum(axis=0)


def light_system(
    painted: Float[np.ndarray, "P K"],
    intensity: Float[np.ndarray, " P"],
    weight: Float[np.ndarray, " P"],
) -> tuple[Float[np.ndarray, "K K"], Float[np.ndarray, " K"]]:
    """Σ w h hᵀ and Σ w h I over the pixels of one photo; h: harmonics times albedo."""
    weighed = painted * weight[:, None]
    return weighed.T @ painted, weighed.T @ intensity
