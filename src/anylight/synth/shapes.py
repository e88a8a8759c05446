"""Embedded shapes: small sculptures that need no file.

Each is a solid of about unit size, its front towards +z. Together they have bumps, folds, grooves,
holes, thin parts and depth steps.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from .solids import Field, Solid, ball, capsule, cut, ellipsoid, join, slab, torus

PIT_RADIUS, PIT_RISE = 0.6, 0.18
"""Radius of the spherical pit, and height of its centre above the plate."""


def _sphere(p: np.ndarray) -> Field:
    return ball(p, (0, 0, 0), 1.0)


def _pit(p: np.ndarray) -> Field:
    plate = slab(p + [0, 0, 0.4], (0.95, 0.95, 0.4), 0.02)
    return np.maximum(plate, -ball(p, (0, 0, PIT_RISE), PIT_RADIUS))


def _mirrored(p: np.ndarray) -> np.ndarray:
    """Fold x onto its absolute value: one half of a symmetric shape serves for both."""
    return np.concatenate([np.abs(p[..., :1]), p[..., 1:]], axis=-1)


def _bust(p: np.ndarray) -> Field:
    half = _mirrored(p)
    head = ellipsoid(p, (0, 0.42, 0), (0.40, 0.53, 0.47))
    head = join(head, ellipsoid(p, (0, 0.14, 0.13), (0.27, 0.26, 0.30)), 0.15)
    head = join(head, ellipsoid(half, (0.17, 0.30, 0.34), (0.12, 0.10, 0.08)), 0.10)
    head = join(head, ellipsoid(half, (0.15, 0.585, 0.39), (0.14, 0.04, 0.06)), 0.08)
    head = cut(head, ball(half, (0.16, 0.48, 0.53), 0.105), 0.07)
    head = join(head, ball(half, (0.155, 0.475, 0.375), 0.078), 0.015)
    head = join(head, capsule(p, (0, 0.54, 0.45), (0, 0.33, 0.58), (0.03, 0.062)), 0.05)
    head = join(head, ball(half, (0.05, 0.32, 0.51), 0.038), 0.03)
    head = join(head, ellipsoid(p, (0, 0.205, 0.455), (0.105, 0.024, 0.05)), 0.02)
    head = join(head, ellipsoid(p, (0, 0.155, 0.44), (0.085, 0.026, 0.055)), 0.02)
    head = join(head, ellipsoid(p, (0, 0.01, 0.36), (0.10, 0.075, 0.08)), 0.08)
    head = join(head, ellipsoid(half, (0.41, 0.40, -0.02), (0.045, 0.13, 0.09)), 0.03)
    x, y, z = np.moveaxis(p, -1, 0)
    hair = ellipsoid(p, (0, 0.50, -0.06), (0.44, 0.51, 0.48))
    locks = 0.022 * np.sin(26 * (x + 0.25 * np.sin(5 * y)) + 6 * y) * np.clip(5 * (y - 0.45), 0, 1)
    hair = np.maximum(hair + locks, 0.74 - y - 0.55 * np.clip(0.42 - z, -0.2, 0.9))
    head = join(head, hair, 0.03)
    neck = capsule(p, (0, 0.05, -0.05), (0, -0.45, -0.08), (0.20, 0.24))
    chest = ellipsoid(p, (0, -0.75, -0.08), (0.80, 0.42, 0.36))
    hang = np.sqrt(x**2 + 0.03)
    folds = 0.025 * np.sin(18 * (0.9 * hang + 0.7 * y) + 3 * np.sin(3 * x))
    body = join(neck, chest + folds / (1 + np.exp(22 * (y + 0.52))), 0.18)
    body = np.maximum(body, -y - 1.0)
    return 0.7 * join(head, body, 0.10)


def _vase(p: np.ndarray) -> Field:
    x, y, z = np.moveaxis(p, -1, 0)
    across, angle = np.hypot(x, z), np.arctan2(x, z)
    profile = 0.40 + 0.20 * np.sin(2.3 * y + 0.9) - 0.10 * np.clip(y - 0.35, 0, 1) ** 2 * 4
    profile = profile + 0.14 * np.exp(-(((y - 0.92) / 0.10) ** 2))
    belly = np.exp(-(((y + 0.05) / 0.38) ** 4))
    flutes = 0.020 * np.cos(20 * angle) * belly
    beads = 0.03 * np.exp(-(((y - 0.52) / 0.045) ** 2)) * (1 + np.cos(28 * angle)) / 2
    body = 0.55 * (across - profile - flutes - beads)
    body = np.maximum(body, np.abs(y) - 0.95)
    handle = torus(_mirrored(p), (0.47, 0.42, 0.0), (0, 0, 1), (0.22, 0.05))
    return join(body, 0.9 * handle, 0.04)


def _drapery(p: np.ndarray) -> Field:
    x, y, z = np.moveaxis(p, -1, 0)
    spread = 1.0 + 0.55 * (0.8 - y)
    phase = 7.5 * x / spread + 0.9 * np.sin(1.6 * y + 0.4)
    folds = 0.13 * np.sin(phase) + 0.05 * np.sin(2.1 * phase + 1.7 + y)
    swag = 0.20 * np.exp(-(((y - 0.35 + 0.35 * x**2) / 0.13) ** 2))
    height = folds * (0.45 + 0.5 * (0.8 - y)) + swag * np.exp(-((x / 0.75) ** 4))
    sheet = 0.45 * (z - height)
    return np.maximum(np.maximum(sheet, -0.5 - z), 0.8 * slab(p, (0.85, 0.92, 0.8), 0.15))


def _medallion(p: np.ndarray) -> Field:
    x, y, z = np.moveaxis(p, -1, 0)
    across, angle = np.hypot(x, y), np.arctan2(x, y)
    petals = 0.16 * np.exp(-(((across - 0.38) / 0.20) ** 2)) * np.cos(4 * angle) ** 2
    petals = petals * (1 - np.exp(-((across / 0.16) ** 4)))
    swirl = 0.035 * np.sin(9 * angle + 22 * across) * np.exp(-(((across - 0.62) / 0.07) ** 2))
    dome = 0.20 * np.exp(-((across / 0.15) ** 4))
    bowl = 0.08 * (across / 0.9) ** 2
    face = 0.5 * (z - petals - swirl - dome - bowl)
    disc = np.maximum(np.maximum(face, -0.25 - z), across - 0.93)
    sector = 2 * np.pi / 24
    nearest = np.round(angle / sector) * sector
    beads = np.stack([0.78 * np.sin(nearest), 0.78 * np.cos(nearest), 0 * angle + 0.07], axis=-1)
    disc = join(disc, np.linalg.norm(p - beads, axis=-1) - 0.06, 0.015)
    return join(disc, torus(p, (0, 0, 0.05), (0, 0, 1), (0.90, 0.07)), 0.02)


def _rings(p: np.ndarray) -> Field:
    a, b = np.sqrt(0.5), np.sqrt(0.3)
    left = torus(p, (-0.30, 0.18, 0.0), (0.0, a, a), (0.50, 0.13))
    right = torus(p, (0.32, -0.18, 0.05), (b, -0.4, np.sqrt(0.54)), (0.50, 0.13))
    both = np.minimum(left, right)
    both = np.minimum(both, ball(p, (-0.30, -0.55, 0.25), 0.16))
    return np.minimum(both, ball(p, (0.32, 0.62, -0.2), 0.20))


def _coral(p: np.ndarray) -> Field:
    branches = (
        ((0.0, -0.95, 0.0), (0.02, -0.30, 0.05), (0.16, 0.13)),
        ((0.02, -0.30, 0.05), (-0.35, 0.20, 0.18), (0.13, 0.09)),
        ((0.02, -0.30, 0.05), (0.30, 0.10, -0.15), (0.13, 0.10)),
        ((-0.35, 0.20, 0.18), (-0.60, 0.75, 0.10), (0.09, 0.03)),
        ((-0.35, 0.20, 0.18), (-0.10, 0.80, 0.35), (0.08, 0.03)),
        ((0.30, 0.10, -0.15), (0.70, 0.50, -0.20), (0.09, 0.025)),
        ((0.30, 0.10, -0.15), (0.25, 0.90, -0.10), (0.09, 0.03)),
        ((0.25, 0.45, -0.13), (-0.25, 0.55, -0.30), (0.07, 0.02)),
        ((0.02, -0.55, 0.05), (0.55, -0.25, 0.25), (0.09, 0.03)),
        ((0.0, -0.60, 0.0), (-0.60, -0.20, -0.05), (0.08, 0.025)),
    )
    whole = capsule(p, *branches[0])
    for branch in branches[1:]:
        whole = join(whole, capsule(p, *branch), 0.07)
    foot = ellipsoid(p, (0, -0.95, 0), (0.42, 0.13, 0.35))
    bumps = 0.012 * np.sin(40 * p[..., 0]) * np.sin(38 * p[..., 1]) * np.sin(36 * p[..., 2])
    return 0.65 * (join(whole, foot, 0.12) + bumps)


_IMPLICIT: dict[str, Callable[[np.ndarray], Field]] = {
    "bust": _bust,
    "coral": _coral,
    "drapery": _drapery,
    "medallion": _medallion,
    "pit": _pit,
    "rings": _rings,
    "sphere": _sphere,
    "vase": _vase,
}

SHAPE_NAMES = tuple(_IMPLICIT)


@cache
def embedded_shape(name: str) -> Solid:
    """One of the embedded shapes."""
    return Solid(_IMPLICIT[name])
