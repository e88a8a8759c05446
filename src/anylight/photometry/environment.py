r"""Environment maps: light from every direction, and what it does to a surface.

A map is latitude-longitude, H×W×C, linear radiance. It shows what somebody standing at the object
sees: the top row is up (−y of the camera frame), the centre column looks at the camera (−z), the
right half is the camera's left (−x). Integrals are sums over texels times their solid angle, so a
map is a finite set of small lamps and every integral below is exact for it.
"""

import numpy as np
from jaxtyping import Bool, Float

from anylight.arrays import Lighting

from .harmonics import half_cosines, harmonics, order_of

Environment = Float[np.ndarray, "Y X C"]
"""Radiance on a latitude-longitude grid."""

Environments = Float[np.ndarray, "M Y X C"]
"""One map per photo, all of one size."""

_BLOCK = 2048
"""Normals handled at once; bounds memory to _BLOCK × texels floats."""


def texel_directions(height: int, width: int) -> Float[np.ndarray, "Y X 3"]:
    """Unit vector towards the centre of every texel, in the camera frame."""
    polar = (np.arange(height) + 0.5) / height * np.pi
    azimuth = ((np.arange(width) + 0.5) / width - 0.5) * 2 * np.pi
    theta, phi = np.meshgrid(polar, azimuth, indexing="ij")
    return np.stack(
        [-np.sin(theta) * np.sin(phi), -np.cos(theta), -np.sin(theta) * np.cos(phi)], axis=-1
    )


def solid_angles(height: int, width: int) -> Float[np.ndarray, "Y X"]:
    """Solid angle of every texel; they sum to 4π."""
    edges = np.cos(np.arange(height + 1) / height * np.pi)
    return np.broadcast_to(((edges[:-1] - edges[1:]) * 2 * np.pi / width)[:, None], (height, width))


def flux(environments: Environments) -> Float[np.ndarray, "M C T"]:
    """Radiance times solid angle of every texel, texels row by row."""
    height, width = environments.shape[1:3]
    scaled = environments * solid_angles(height, width)[..., None]
    return np.moveaxis(scaled.reshape(len(environments), height * width, -1), 1, 2)


def irradiance(
    environments: Environments,
    normals: Float[np.ndarray, "P 3"],
    visible: Bool[np.ndarray, "P T"] | None = None,
    places: Float[np.ndarray, "P 3"] | None = None,
) -> Float[np.ndarray, "M C P"]:
    r"""Integrate $\int \ell(\omega) \max(\omega \cdot n, 0)\, d\omega$ (paper, eq. 1).

    Args:
        environments: one map per photo.
        normals: where to evaluate.
        visible: which texels each point can see; all of them if not given.
        places: for lamps that are near: where the points are, from the middle of the sphere on
            which the lamps hang, relative to its radius. Light then comes from $\omega - x$ and
            falls with the square of the distance; a map is what is seen from the middle.
    """
    num_photos, height, width, channels = environments.shape
    lamps = np.asarray(flux(environments), dtype=normals.dtype).reshape(-1, height * width).T
    directions = texel_directions(height, width).reshape(-1, 3).astype(normals.dtype)
    result = np.zeros((len(normals), num_photos * channels), normals.dtype)
    for start in range(0, len(normals), _BLOCK):
        block = slice(start, start + _BLOCK)
        cosine = normals[block] @ directions.T
        if places is not None:
            cosine = _near(cosine, normals[block], directions, places[block].astype(normals.dtype))
        cosine = np.maximum(cosine, 0)
        if visible is not None:
            cosine *= visible[block]
        result[block] = cosine @ lamps
    return result.T.reshape(num_photos, channels, len(normals))


def _near(
    cosine: Float[np.ndarray, "n T"],
    normals: Float[np.ndarray, "n 3"],
    directions: Float[np.ndarray, "T 3"],
    places: Float[np.ndarray, "n 3"],
) -> Float[np.ndarray, "n T"]:
    """Cosines towards lamps on the unit sphere around the origin, over squared distances."""
    towards = cosine - (normals * places).sum(axis=1, keepdims=True)
    square = 1 - 2 * (places @ directions.T) + (places**2).sum(axis=1, keepdims=True)
    return towards / (square * np.sqrt(square))


def equivalent_lights(
    environments: Environments, normals: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, "M C P 3"]:
    r"""Mean light over the visible hemisphere, $\int_{\omega\cdot n \ge 0} \ell\,\omega\,d\omega$.

    (paper, eq. 2; times n it is the irradiance again)
    """
    num_photos, height, width, channels = environments.shape
    directions = texel_directions(height, width).reshape(-1, 3)
    lamps = flux(environments)[..., None] * directions
    result = np.zeros((num_photos, channels, len(normals), 3))
    for start in range(0, len(normals), _BLOCK):
        block = slice(start, start + _BLOCK)
        facing = (normals[block] @ directions.T >= 0).astype(float)
        result[:, :, block] = np.einsum("pt,mcta->mcpa", facing, lamps, optimize=True)
    return result


def project(environments: Environments, order: int) -> Lighting:
    """Harmonic coefficients of the shading that maps cause, k_l included."""
    height, width = environments.shape[1:3]
    basis = harmonics(texel_directions(height, width).reshape(-1, 3), order)
    return (flux(environments) @ basis) * half_cosines(order)


def project_lamps(
    directions: Float[np.ndarray, "D 3"], strength: Float[np.ndarray, "M C D"], order: int
) -> Lighting:
    """Harmonic coefficients of the shading that far lamps cause, k_l included."""
    return (strength @ harmonics(directions, order)) * half_cosines(order)


def panorama(lighting: Lighting, height: int = 64) -> Environments:
    """Band-limited radiance that causes a lighting; it may be negative in places."""
    order = order_of(lighting.shape[-1])
    basis = harmonics(texel_directions(height, 2 * height), order)
    return np.einsum("mck,yxk->myxc", lighting / half_cosines(order), basis)


def _overlaps(fine: int, coarse: int) -> Float[np.ndarray, "coarse fine"]:
    """Share of each fine interval that falls into each coarse one."""
    left, right = np.arange(fine) / fine, np.arange(1, fine + 1) / fine
    edges = np.arange(coarse + 1) / coarse
    shared = np.minimum(right, edges[1:, None]) - np.maximum(left, edges[:-1, None])
    return np.maximum(shared, 0) * fine


def resample(environment: Environment, height: int) -> Float[np.ndarray, "y x C"]:
    """Bring a map to height × 2·height, keeping the light that each region sends.

    Sums radiance times solid angle, so that a sun of a few bright texels keeps its power.
    """
    rows, columns = environment.shape[:2]
    power = environment * solid_angles(rows, columns)[..., None]
    gathered = np.einsum(
        "Yy,Xx,yxc->YXc",
        _overlaps(rows, height),
        _overlaps(columns, 2 * height),
        power,
        optimize=True,
    )
    return gathered / solid_angles(height, 2 * height)[..., None]


def turn(environment: Environment, turns: float) -> Environment:
    """Turn a map about the vertical axis by a share of a full circle, in whole texels."""
    return np.roll(environment, round(turns * environment.shape[1]), axis=1)


def captured_energy(environments: Environments, order: int) -> Float[np.ndarray, " M"]:
    """Share of the energy of the shading (over all normals) that an order captures, by map.

    (paper, figure `sha`; Basri and Jacobs: at least 75 % at order one, 98 % at order two)
    """
    height = 32
    normals = texel_directions(height, 2 * height).reshape(-1, 3)
    weights = solid_angles(height, 2 * height).reshape(-1)
    total = (irradiance(environments, normals) ** 2 * weights).sum(axis=(1, 2))
    return (project(environments, order) ** 2).sum(axis=(1, 2)) / total
