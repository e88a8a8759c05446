"""What photos do not tell: how brightness and colour divide between paint and light."""

import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting


def balanced(
    albedo: Float[np.ndarray, "C P"], lighting: Lighting, colour: Float[np.ndarray, " C"]
) -> tuple[Float[np.ndarray, "C P"], Lighting]:
    """Divide brightness and colour between paint and light, which photos do not tell.

    Light is as white as the photos allow: the object as a whole has the colour of its mean photo.
    The largest albedo is one.
    """
    mean = albedo.mean(axis=1)
    scale = np.ones(len(albedo))
    if ((mean > 0) & (colour > 0)).all():
        scale = mean / colour
    scale *= float((albedo / scale[:, None]).max()) or 1.0
    return albedo / scale[:, None], lighting * scale[:, None]
