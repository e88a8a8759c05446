"""A bumpy ellipsoid before a pinhole, under light that first-order harmonics describe exactly."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.ndimage import gaussian_filter

from anylight.geometry.camera import Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg, depth_normals, normals_from_slopes
from anylight.model.capture import Capture

CAMERA = Perspective((300.0, 290.0), (62.0, 47.0))
RADII = (0.9, 0.675, 0.56)
CENTRE = np.array([-0.02, 0.03, 4.0])
SHAPE = (100, 130)
BUMP, WAVE = 0.002, 20.0
"""Height relative to the depth, and wavelength in pixels."""
KEEP = 0.3
"""Share of the largest squared half chord from which a ray counts as meeting the object."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything for the masked pixels."""

    domain: Domain
    depth: np.ndarray
    normals: np.ndarray
    """Analytic, by the derivative of the depth's formula."""

    @property
    def forward_normals(self):
        """Normals of the depth by the differences that the method uses."""
        image = self.domain.scatter(self.depth)
        return self.domain.gather(depth_normals(CAMERA, image, self.domain.mask, "forward"))

    def capture(self, radiance, camera=CAMERA):
        """Photos (M, C, P) as a capture."""
        photos = np.zeros((len(radiance), *self.domain.mask.shape, radiance.shape[1]), np.float32)
        photos[:, self.domain.mask] = np.moveaxis(radiance, 1, 2)
        return Capture(photos, self.domain.mask, camera)

    def blurred(self, sigma):
        """The depth, blurred within the mask."""
        image = gaussian_filter(self.domain.scatter(self.depth, fill=0.0), sigma)
        return self.domain.gather(image / gaussian_filter(self.domain.mask.astype(float), sigma))

    def error_deg(self, normals):
        """Mean angle to the normals of the true depth."""
        return float(angles_deg(normals, self.forward_normals).mean())

    def cut(self, mask):
        """The same within a smaller mask."""
        kept = self.domain.gather(mask)
        return replace(
            self, domain=Domain(mask & self.domain.mask), depth=self.depth[kept],
            normals=self.normals[kept],
        )  # fmt: skip


def _log_depth(u, v, bump, radii):
    """Log-depth of the bumpy ellipsoid, and the squared half chord of the ray in it."""
    rays = CAMERA.rays(u, v) / radii
    centre = CENTRE / radii
    a, b, c = (rays**2).sum(-1), rays @ centre, centre @ centre - 1
    inside = b**2 - a * c
    depth = (b - np.sqrt(np.maximum(inside, 0))) / a
    bumps = np.sin(2 * np.pi * (u + 0.3 * v) / WAVE) * np.sin(2 * np.pi * (v - 0.2 * u) / WAVE)
    return np.log(np.maximum(depth, 1e-9)) + bump * bumps, inside


@cache
def bumpy(bump=BUMP, radii=RADII) -> Scene:
    """About 7400 pixels (a sphere: fewer); all normals face the camera."""
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]].astype(float)
    _, inside = _log_depth(u, v, 0.0, radii)
    domain = Domain(inside > KEEP * inside.max())
    u, v = domain.pixels.T
    depth = np.exp(_log_depth(u, v, bump, radii)[0])
    h = 1e-4
    slopes = [
        (_log_depth(u + a, v + b, bump, radii)[0] - _log_depth(u - a, v - b, bump, radii)[0])
        / (2 * h)
        for a, b in ((h, 0.0), (0.0, h))
    ]
    normals = normals_from_slopes(CAMERA, domain.pixels, np.stack(slopes, axis=-1))
    return Scene(domain, depth, normals)


def painting(domain):
    """Three channels of a checker over slow waves."""
    u, v = domain.pixels.T
    checker = ((u // 12 + v // 12) % 2)[None]
    shift = np.array([[0.0], [1.0], [2.0]])
    return 0.45 + 0.25 * checker + 0.15 * np.sin(u / 17 + v / 23 + shift)


def first_order_light(num, rng, channels=3):
    """Coefficients of (n, 1), photo by channel: ambient light and a lamp before the object."""
    lamp = rng.standard_normal((num, 1, 3)) * [1, 1, 0.5] - [0, 0, 0.8]
    lamp *= 0.4 / np.linalg.norm(lamp, axis=-1, keepdims=True)
    colour = rng.uniform(0.7, 1.0, (num, channels, 1))
    return np.concatenate([lamp * colour, 0.5 * colour], axis=-1)


def shade(light, albedo, normals):
    """Photos (M, C, P) without clamping."""
    return albedo * (light[..., :3] @ normals.T + light[..., 3:])
