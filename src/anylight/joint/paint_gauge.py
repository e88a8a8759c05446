"""Tell paint from light where both explain the photos.

A factor that depends on the normal alone can be moved from the light of all photos into the albedo
with hardly any change of the images. Paint has edges where the surface has none: the factor is
chosen so that the albedo changes as little as possible from pixel to pixel (least absolute change
of its logarithm), which removes shading from the paint and leaves painted edges alone.
"""

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.domain import Domain
from anylight.photometry.harmonics import harmonics

_ROUNDS = 12
_SOFT = 3e-3
"""Change of log-albedo below which the penalty is quadratic."""
_DARK = 0.02
"""Albedo below this share of the median says nothing about its logarithm."""
_MOST = 200_000


def without_shading(
    domain: Domain,
    albedo: Float[np.ndarray, "C P"],
    unit: Float[np.ndarray, "3 P"],
    trusted: Bool[np.ndarray, " P"],
    order: int,
) -> Float[np.ndarray, "C P"]:
    """Albedo divided by the factor of the normal that explains most of its smooth change."""
    first, second = _pairs(domain, trusted)
    result = albedo.copy()
    terms = harmonics(unit.T, order)[:, 1:]
    for c, values in enumerate(albedo):
        floor = _DARK * max(float(np.median(values)), 1e-12)
        bright = (values[first] > floor) & (values[second] > floor)
        a, b = first[bright], second[bright]
        if len(a) < 50 * terms.shape[1]:
            continue
        change = np.log(values[a]) - np.log(values[b])
        turn = terms[a] - terms[b]
        factor = _least_change(change, turn)
        log_factor = terms @ factor
        result[c] = values / np.exp(log_factor - np.median(log_factor))
    return result


def _pairs(domain: Domain, trusted: Bool[np.ndarray, " P"]) -> tuple[np.ndarray, np.ndarray]:
    first, second = [], []
    for du, dv in ((1, 0), (0, 1)):
        other = domain.neighbour(du, dv)
        own = np.flatnonzero((other >= 0) & trusted)
        own = own[trusted[other[own]]]
        first.append(own)
        second.append(other[own])
    a, b = np.concatenate(first), np.concatenate(second)
    every = max(1, len(a) // _MOST)
    return a[::every], b[::every]


def _least_change(
    change: Float[np.ndarray, " n"], turn: Float[np.ndarray, "n k"]
) -> Float[np.ndarray, " k"]:
    """Least absolute deviations by reweighting."""
    factor = np.zeros(turn.shape[1])
    ridge = 1e-6 * np.trace(turn.T @ turn) / turn.shape[1] * np.eye(turn.shape[1])
    for _ in range(_ROUNDS):
        weight = 1 / np.maximum(np.abs(change - turn @ factor), _SOFT)
        weighed = turn * weight[:, None]
        hold = ridge * float(weight.mean())
        factor = np.linalg.solve(weighed.T @ turn + hold, weighed.T @ change)
    return factor
