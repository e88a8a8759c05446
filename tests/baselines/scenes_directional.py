"""Small surfaces under light that one can write down, for the tests of the competitors."""

from dataclasses import dataclass

import numpy as np

from anylight.geometry.camera import Orthographic
from anylight.geometry.normals import angles_deg
from anylight.model.capture import Capture

HEIGHT, WIDTH = 160, 200
PARALLEL = Orthographic(((WIDTH - 1) / 2, (HEIGHT - 1) / 2))
MIRROR = np.array([-1.0, -1.0, 1.0])


@dataclass(frozen=True)
class Surface:
    mask: np.ndarray
    normals: np.ndarray  # (P, 3), camera frame


def _grid():
    v, u = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    return u - (WIDTH - 1) / 2, v - (HEIGHT - 1) / 2


def _surface(mask, slope_u, slope_v):
    """From slopes of depth (away from the camera)."""
    tilted = np.stack([slope_u[mask], slope_v[mask], -np.ones(mask.sum())], axis=-1)
    return Surface(mask, tilted / np.linalg.norm(tilted, axis=1, keepdims=True))


def ellipsoid(axes=(80.0, 60.0, 50.0)):
    x, y = _grid()
    a, b, c = axes
    height_squared = 1 - (x / a) ** 2 - (y / b) ** 2
    mask = height_squared > 0
    height = c * np.sqrt(np.where(mask, height_squared, 1.0))
    return _surface(mask, c**2 * x / a**2 / height, c**2 * y / b**2 / height)


def bumpy():
    """A dome with waves on it; mean slant some 38 degrees."""
    x, y = _grid()
    mask = (x / 90) ** 2 + (y / 70) ** 2 < 1
    slope_u = 2 * 55 * x / 90**2 + 0.55 * np.cos(x / 11 + 0.4) * np.cos(y / 14)
    slope_v = 2 * 55 * y / 70**2 - 0.55 * 11 / 14 * np.sin(x / 11 + 0.4) * np.sin(y / 14)
    return _surface(mask, slope_u, slope_v)


def lamps(count=12, slant_deg=(15, 50), strength=(0.6, 1.4), seed=3):
    """Directions to lamps around the camera times their strength, camera frame."""
    rng = np.random.default_rng(seed)
    slant = np.deg2rad(rng.uniform(*slant_deg, count))
    azimuth = 2 * np.pi * (np.arange(count) + rng.uniform(0, 1, count)) / count
    unit = np.stack(
        [np.sin(slant) * np.cos(azimuth), np.sin(slant) * np.sin(azimuth), -np.cos(slant)], axis=-1
    )
    return unit * rng.uniform(*strength, (count, 1))


def lobes(count=20, sharpness=30.0, ambient=0.0, seed=5):
    """Radiance of soft lamps (von Mises-Fisher) on a cover of the sphere: directions, fluxes."""
    points = 2000
    z = 1 - 2 * (np.arange(points) + 0.5) / points
    turn = np.pi * (1 + 5**0.5) * np.arange(points)
    radius = np.sqrt(1 - z**2)
    directions = np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=-1)
    centres = lamps(count, slant_deg=(15, 50), strength=(1, 1), seed=seed)
    flux = np.exp(sharpness * (directions @ centres.T - 1))
    return directions, flux / flux.sum(axis=0) + ambient / points


def shading_under(normals, directions, flux, block=1000):
    """∫ light · max(ω·n, 0) for every normal and photo."""
    parts = [
        np.maximum(normals[i : i + block] @ directions.T, 0) @ flux
        for i in range(0, len(normals), block)
    ]
    return np.concatenate(parts)


def capture_of(mask, intensity, camera=PARALLEL, channels=1):
    """Photos of (P, M) intensities."""
    photos = np.zeros((intensity.shape[1], *mask.shape, channels), np.float32)
    photos[:, mask] = intensity.T[:, :, None]
    capture = Capture(photos=np.maximum(photos, 0), mask=mask, camera=camera)
    # captures refuse negative light, but without it there are no exact photos of attached shadows
    object.__setattr__(capture, "photos", photos)
    return capture


def directional(surface, lights, *, albedo=1.0, clamp=False, channels=1):
    """Photos under lamps far away; without the clamp shadows are negative light."""
    shading = surface.normals @ lights.T
    if clamp:
        shading = np.maximum(shading, 0)
    return capture_of(surface.mask, np.reshape(albedo, (-1, 1)) * shading, channels=channels)


def mae(normals, truth):
    return float(angles_deg(normals, truth).mean())


def both_branches(normals, truth):
    """Error of the branch at hand and of the other one."""
    return mae(normals, truth), mae(normals * MIRROR, truth)


def sphere_part(height=110, width=120):
    """Part of a sphere; the mask touches the border, has a hole and two components."""
    v, u = np.mgrid[:height, :width].astype(float)
    x, y = u - 60, v - 45
    radius = 62.0
    mask = x**2 + y**2 < (radius - 2) ** 2
    mask[30:38, 50:60] = False
    mask[:, 84:96] = False
    depth = np.sqrt(np.where(mask, radius**2 - x**2 - y**2, 1.0))
    return _surface(mask, x / depth, y / depth)
