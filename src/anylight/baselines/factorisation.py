"""Gray photos as a matrix, and its three strongest parts (Hayakawa 1994)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.model.capture import Capture

RANK = 3
"""Light from one direction makes photos of rank three."""
_REC_601 = (0.2989, 0.5870, 0.1140)
_ENOUGH = 1e-7
_MAX_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Factors:
    """Photos ≈ parts · diag(strengths) · mixes, three of each."""

    parts: Float[np.ndarray, "P 3"]
    strengths: Float[np.ndarray, " 3"]
    mixes: Float[np.ndarray, "M 3"]
    spectrum: Float[np.ndarray, " S"]
    """All singular values."""


def gray_photos(capture: Capture) -> Float[np.ndarray, "P M"]:
    """One number per pixel and photo: Rec. 601 for three channels, else the plain mean."""
    radiance = capture.radiance()
    channels = radiance.shape[1]
    weights = np.array(_REC_601) if channels == 3 else np.full(channels, 1 / channels)
    return np.ascontiguousarray(np.einsum("mcp,c->pm", radiance, weights))


def factorise(photos: Float[np.ndarray, "P M"]) -> Factors:
    """Singular value decomposition, cut to rank three; signs are fixed to be reproducible."""
    left, values, right = np.linalg.svd(photos, full_matrices=False)
    signs = np.where(right[:RANK].sum(axis=1) < 0, -1.0, 1.0)
    return Factors(
        parts=left[:, :RANK] * signs,
        strengths=values[:RANK],
        mixes=(right[:RANK] * signs[:, None]).T,
        spectrum=values,
    )


def without_outliers(photos: Float[np.ndarray, "P M"], pixels: int) -> Float[np.ndarray, "P M"]:
    r"""Low-rank part of photos = low rank + sparse (robust PCA, inexact augmented Lagrangian).

    $\min |A|_* + \gamma |E|_1$ with $\gamma = \kappa/\sqrt{\text{pixels}}$; κ is 1.7 from twelve
    photos on, else 3 (Favaro and Papadhimitri, §6). `pixels` counts those of one whole photo.
    """
    size = np.linalg.norm(photos)
    if size == 0:
        return photos
    gamma = (1.7 if photos.shape[1] >= 12 else 3.0) / np.sqrt(pixels)
    spectral = np.linalg.norm(photos, 2)
    multiplier = photos / max(spectral, np.abs(photos).max() / gamma)
    penalty = 1.25 / spectral
    sparse = np.zeros_like(photos)
    low = photos
    for _ in range(_MAX_ROUNDS):
        left, values, right = np.linalg.svd(
            photos - sparse + multiplier / penalty, full_matrices=False
        )
        low = (left * np.maximum(values - 1 / penalty, 0)) @ right
        rest = photos - low + multiplier / penalty
        sparse = np.sign(rest) * np.maximum(np.abs(rest) - gamma / penalty, 0)
        gap = photos - low - sparse
        multiplier = multiplier + penalty * gap
        penalty *= 1.5
        if np.linalg.norm(gap) < _ENOUGH * size:
            break
    return low
