"""How many lights there were."""

import numpy as np
from jaxtyping import Float, Shaped

from anylight.model.finding import Finding

_NOISE_FLOOR = 3e-3
"""Relative strength below which a combination of the photos is noise or gloss."""


def independent_lights(samples: Shaped[np.ndarray, "M n C"]) -> tuple[Float[np.ndarray, " M"], int]:
    """How many independent lights: singular values with paint and strength divided out."""
    values = samples.mean(axis=2, dtype=float)
    lit = values.mean(axis=0) > 0.02 * values.mean()
    if not lit.any():
        return np.zeros(len(values)), 0
    values = values[:, lit]
    values = values / np.maximum(np.linalg.norm(values, axis=0), 1e-12)
    values = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
    singular = np.linalg.svd(values, compute_uv=False)
    strengths: Float[np.ndarray, " M"] = singular / max(float(singular[0]), 1e-12)
    noise = max(_NOISE_FLOOR, 2.0 * float(np.median(strengths[len(strengths) // 2 :])))
    noise = min(noise, 0.02)
    return strengths, int((strengths > noise).sum())


def about_lights(photos: int, independent: int) -> list[Finding]:
    """Whether the lights differ enough."""
    text = f"{independent} of {photos} photos show independent light"
    if independent >= 4:
        return [Finding("good", "lights", f"{text}, which is enough.")]
    return [
        Finding(
            "problem" if independent < 3 else "warning",
            "lights",
            f"{text}: shape, paint and light can hardly be told apart.",
            "Move the lamp further between photos: left, right, above, and close to the lens.",
        )
    ]
