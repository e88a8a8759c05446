"""Hill or hollow: which of the two mirror surfaces comes towards the camera."""

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage

from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain
from anylight.geometry.normals import slopes_from_normals
from anylight.integration.smooth import clamp_slant, integrate_slopes

MIRROR = np.array([-1.0, -1.0, 1.0])
"""Takes one branch to the other, normals and lights alike, in either frame."""


def bulge(camera: Camera, domain: Domain, normals: Float[np.ndarray, "P 3"]) -> float:
    """Mean height over the rim, towards the camera, of the surface that normals belong to."""
    facing = clamp_slant(camera, domain.pixels, normals)
    heights = -integrate_slopes(domain, slopes_from_normals(camera, domain.pixels, facing))
    rim, component = domain.is_rim, domain.components
    counts = np.bincount(component[rim], minlength=domain.num_components)
    sums = np.bincount(component[rim], heights[rim], minlength=domain.num_components)
    return float((heights - (sums / counts)[component]).mean())


def inpainted(
    domain: Domain, normals: Float[np.ndarray, "P 3"], is_known: Bool[np.ndarray, " P"]
) -> Float[np.ndarray, "P 3"]:
    """Unit normals with those that are missing taken from the nearest pixel that has one."""
    if not is_known.any():
        return np.tile([0.0, 0.0, -1.0], (domain.size, 1))
    lacking = ~domain.scatter(is_known, fill=False)
    _, (rows, columns) = ndimage.distance_transform_edt(lacking, return_indices=True)
    nearest = domain.numbers[rows, columns][domain.mask]
    filled = normals[nearest]
    return filled / np.linalg.norm(filled, axis=1, keepdims=True)
