"""Tell paint from light where both explain the photos.

A factor that depends on the normal alone can be moved from the light of all photos into the albedo
with hardly any change of the images. Paint has edges where the surface has none: the factor is
chosen so that the albedo changes as little as possible from pixel to pixel (least absolute change
of its logarithm), which removes shading from the paint and leaves painted edges alone.
"""

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.domain import ABSENT, Domain
from anylight.kernels.monomials import combine
from anylight.photometry.harmonics import harmonics
from anylight.threads import in_parallel

_ROUNDS = 12
"""Rounds of reweighting. [rounds]"""
_SOFT = 3e-3
"""Change of log-albedo below which the penalty is quadratic. [logarithm]"""
_DARK = 0.02
"""Albedo below this share of the median says nothing about its logarithm. (guard)"""
_MOST = 12_000
"""Pairs of pixels, or pixels, that the factor is fitted to. (memory)"""
_USUAL_DRIFT = 0.08
"""How far the hue of light from different sides strays, as a standard deviation. [logarithm]"""
_PAIRS_EACH = 50
"""Pairs of pixels for every number of the factor without which it is not fitted. [pairs]"""
_RIDGE = 1e-6
"""What keeps the fit solvable, relative to its own weight. (guard)"""


def without_shading(
    domain: Domain,
    albedo: Float[np.ndarray, "C P"],
    unit: Float[np.ndarray, "3 P"],
    trusted: Bool[np.ndarray, " P"],
    order: int,
) -> Float[np.ndarray, "C P"]:
    """Albedo divided by the factor of the normal that explains most of its smooth change."""
    first, second = _pairs(domain, trusted)
    turns = _terms(unit[:, first], order) - _terms(unit[:, second], order)

    def factor(values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " k"]:
        floor = _DARK * max(float(np.median(values[:: hue_stride(len(values))])), 1e-12)
        bright = (values[first] > floor) & (values[second] > floor)
        if np.count_nonzero(bright) < _PAIRS_EACH * turns.shape[1]:
            return np.zeros(turns.shape[1])
        change = np.log(values[first[bright]]) - np.log(values[second[bright]])
        return _least_change(change, turns[bright])

    factors = np.stack(in_parallel(factor, albedo))
    log_factor = combine(np.pad(factors, ((0, 0), (1, 0))), unit, order)
    log_factor -= np.median(log_factor[:, :: hue_stride(domain.size)], axis=1, keepdims=True)
    return albedo / np.exp(log_factor.astype(albedo.dtype))


def hue_stride(num: int) -> int:
    """Every how many of so many pixels are enough to know their hue."""
    return max(1, num // _MOST)


def with_colour_of(
    albedo: Float[np.ndarray, "C P"],
    mean_photo: Float[np.ndarray, "C n"],
    unit: Float[np.ndarray, "3 P"],
    order: int = 2,
) -> Float[np.ndarray, "C P"]:
    """Albedo whose hue does not drift far from the mean photo's with the normal.

    The mean photo is that of every so many pixels as `hue_stride` says.

    Light of many photos together is about as white from one side as from the other: a drift of up
    to a few percent is left alone, what goes beyond is taken for light.
    """
    if len(albedo) < 2:
        return albedo
    every = hue_stride(albedo.shape[1])
    logs = [np.log(np.maximum(x, _DARK * np.median(x, axis=1, keepdims=True) + 1e-12))
            for x in (albedo[:, ::every], mean_photo)]  # fmt: skip
    hue = logs[0] - logs[1]
    hue -= hue.mean(axis=0)
    terms = harmonics(unit[:, ::every].T.astype(float), order)
    factors = np.stack(in_parallel(lambda row: _least_change(row.astype(float), terms), hue))
    factors -= factors.mean(axis=0)
    log_factor = combine(factors, unit, order)
    drift = float(np.sqrt((log_factor**2).mean()))
    excess = max(0.0, 1 - _USUAL_DRIFT / max(drift, 1e-12))
    return albedo / np.exp((excess * log_factor).astype(albedo.dtype))


def _terms(unit: Float[np.ndarray, "3 n"], order: int) -> Float[np.ndarray, "n k"]:
    """Harmonics without the constant one."""
    return harmonics(unit.T.astype(float), order)[:, 1:]


def _pairs(domain: Domain, trusted: Bool[np.ndarray, " P"]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of neighbours along rows and columns, evenly spread."""
    numbers = np.pad(domain.numbers, ((0, 1), (0, 1)), constant_values=ABSENT)
    some = np.flatnonzero(trusted)
    some = some[:: max(1, 2 * len(some) // _MOST)]
    columns, rows = domain.pixels[some].T
    first, second = [], []
    for du, dv in ((1, 0), (0, 1)):
        other = numbers[rows + dv, columns + du]
        both = (other >= 0) & trusted[other]
        first.append(some[both])
        second.append(other[both])
    return np.concatenate(first), np.concatenate(second)


def _least_change(
    change: Float[np.ndarray, " n"], turn: Float[np.ndarray, "n k"]
) -> Float[np.ndarray, " k"]:
    """Least absolute deviations by reweighting."""
    factor = np.zeros(turn.shape[1])
    ridge = _RIDGE * float((turn**2).sum()) / turn.shape[1] * np.eye(turn.shape[1])
    light = turn.astype(np.float32)
    for _ in range(_ROUNDS):
        weight = 1 / np.maximum(np.abs(change - turn @ factor), _SOFT)
        root = np.sqrt(weight).astype(np.float32)
        weighed = light * root[:, None]
        normal = (weighed.T @ weighed).astype(float)
        source = (root * change).astype(np.float32) @ weighed
        factor = np.linalg.solve(normal + ridge * float(weight.mean()), source.astype(float))
    return factor
