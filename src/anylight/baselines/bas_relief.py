r"""The three numbers that parallel light leaves open, from diffuse maxima.

Normals and lights known up to $n = (N_1 + \mu N_3, N_2 + \nu N_3, \lambda N_3)$. A maximum, where
n and l are parallel, puts $(\mu, \nu)$ on the segment $A + t d$ and $\lambda = \sqrt{t(1-t)}|d|$ on
the half circle above it, with $A = -(N_1, N_2)/N_3$ and
$d = (L_1, L_2)\,(N\cdot L)/(N_3 (L_1^2 + L_2^2))$. Segments of one photo are parallel; those of
two photos meet in the answer.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

_MANY_SAMPLES = 3000
_PAIRS = 200_000
_PARALLEL = 1e-6
_GRAZING = 1e-6
_SEED = 2012


@dataclass(frozen=True)
class BasRelief:
    """A generalised bas-relief transformation."""

    mu: float = 0.0
    nu: float = 0.0
    lam: float = 1.0
    intersections: int = 0
    """How many pairs of maxima met; none leaves the identity."""

    def normals(self, pseudo: Float[np.ndarray, "P 3"]) -> Float[np.ndarray, "P 3"]:
        """Pseudo-normals transformed, not normalised."""
        x, y, z = pseudo.T
        return np.stack([x + self.mu * z, y + self.nu * z, self.lam * z], axis=-1)

    def lights(self, pseudo: Float[np.ndarray, "M 3"]) -> Float[np.ndarray, "M 3"]:
        """Pseudo-lights transformed so that n · l stays the same."""
        x, y, z = pseudo.T
        return np.stack([x, y, (z - self.mu * x - self.nu * y) / self.lam], axis=-1)


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments A + t·d in the plane of (μ, ν), and the photo each comes from."""

    start: Float[np.ndarray, "S 2"]
    extent: Float[np.ndarray, "S 2"]
    photo: Int[np.ndarray, " S"]


def segments(
    normals: Float[np.ndarray, "S 3"],
    lights: Float[np.ndarray, "S 3"],
    photo: Int[np.ndarray, " S"],
) -> Segments:
    """What every sample (a normal and a light that should be parallel) allows."""
    depth = normals[:, 2:]
    across = (lights[:, :2] ** 2).sum(axis=1, keepdims=True)
    size = np.median(np.abs(depth)) if len(depth) else 0.0
    is_usable = (np.abs(depth) > _GRAZING * size)[:, 0] & (across > 0)[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        start = -normals[:, :2] / depth
        shading = (normals * lights).sum(axis=1, keepdims=True)
        extent = lights[:, :2] * shading / (depth * across)
    is_usable &= np.isfinite(start).all(axis=1) & np.isfinite(extent).all(axis=1)
    return Segments(start=start[is_usable], extent=extent[is_usable], photo=photo[is_usable])


def _cross(a: Float[np.ndarray, "S 2"], b: Float[np.ndarray, "S 2"]) -> Float[np.ndarray, " S"]:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _meetings(
    all_: Segments, first: Int[np.ndarray, " N"], second: Int[np.ndarray, " N"]
) -> Float[np.ndarray, "Q 3"]:
    """(μ, ν, λ) of the pairs whose segments meet."""
    d, e = all_.extent[first], all_.extent[second]
    gap = all_.start[second] - all_.start[first]
    turn = _cross(d, e)
    with np.errstate(divide="ignore", invalid="ignore"):
        t, s = _cross(gap, e) / turn, _cross(gap, d) / turn
    length = np.linalg.norm(d, axis=1)
    meets: Bool[np.ndarray, " N"] = (
        (np.abs(turn) > _PARALLEL * length * np.linalg.norm(e, axis=1))
        & (t >= 0)
        & (t <= 1)
        & (s >= 0)
        & (s <= 1)
    )
    t, first = t[meets], first[meets]
    point = all_.start[first] + t[:, None] * all_.extent[first]
    return np.column_stack([point, np.sqrt(t * (1 - t)) * length[meets]])


def bas_relief(all_: Segments) -> BasRelief:
    """Component-wise median over all meetings of segments of different photos."""
    count = len(all_.photo)
    found = [np.zeros((0, 3))]
    if count > _MANY_SAMPLES:
        rng = np.random.default_rng(_SEED)
        first, second = rng.integers(count, size=(2, _PAIRS))
        differ = all_.photo[first] != all_.photo[second]
        found.append(_meetings(all_, first[differ], second[differ]))
    else:
        for i in range(count):
            second = i + 1 + np.flatnonzero(all_.photo[i + 1 :] != all_.photo[i])
            found.append(_meetings(all_, np.full_like(second, i), second))
    meetings = np.concatenate(found)
    meetings = meetings[meetings[:, 2] > 0]
    if len(meetings) == 0:
        return BasRelief()
    mu, nu, lam = np.median(meetings, axis=0)
    return BasRelief(float(mu), float(nu), float(lam), len(meetings))
