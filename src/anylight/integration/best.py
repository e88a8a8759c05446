"""From normals to depth by the best of the room: heights that may jump."""

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain

from .jumps import step_heights
from .smooth import check_frame, depth_of


def integrate(
    camera: Camera, domain: Domain, normals: Float[np.ndarray, "P 3"]
) -> Float[np.ndarray, " P"]:
    """Depth of a field of unit normals, with steps where the normals want them.

    One scale (orthographic: shift) per piece of the mask is free: its mean depth becomes one
    (orthographic: zero).

    Args:
        camera: of the normals.
        domain: the pixels that have one.
        normals: camera frame.
    """
    check_frame(camera, domain, normals)
    return depth_of(camera, domain, step_heights(camera, domain, normals.T))
