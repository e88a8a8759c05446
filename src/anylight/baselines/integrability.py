r"""Which normals belong to a surface: the linear condition of Yuille and Snow (1997).

Frame: x right, y **up**, z to the viewer (the other way round than the camera frame). A field
$b = P e$ is integrable iff $b_3\partial_x b_2 - b_2\partial_x b_3 = b_3\partial_y b_1 -
b_1\partial_y b_3$, which is linear in six cofactors of the unknown 3×3 matrix P.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from anylight.geometry.differences import central
from anylight.geometry.domain import Domain

_PAIRS = ((0, 1), (0, 2), (1, 2))
_FEWEST = 50
_SUPPORT = 4.8
"""Half-width of the smoothing window in standard deviations (25 pixels for 2.5)."""
TO_CAMERA = np.array([1.0, -1.0, -1.0])
"""From this frame to the camera's, and back."""


@dataclass(frozen=True, eq=False)
class Variation:
    """A vector field and its derivatives at pixels whose stencil stays inside the mask."""

    pixels: Int[np.ndarray, " Q"]
    """Numbers of the pixels."""
    value: Float[np.ndarray, "Q 3"]
    along_x: Float[np.ndarray, "Q 3"]
    """Derivative to the right."""
    along_y: Float[np.ndarray, "Q 3"]
    """Derivative upwards."""


def interior(domain: Domain, margin: int) -> Int[np.ndarray, " Q"]:
    """Pixels at least so far inside the mask; closer to its rim where it is too narrow."""
    for erosion in range(margin, 0, -1):
        inner = ndimage.binary_erosion(domain.mask, iterations=erosion)
        if np.count_nonzero(inner) >= max(_FEWEST, 0.1 * domain.size):
            return np.flatnonzero(domain.gather(inner))
    return np.arange(domain.size)


def smoothed(
    domain: Domain, field: Float[np.ndarray, "P 3"], sigma_px: float
) -> Float[np.ndarray, "P 3"]:
    """Gaussian mean over the masked pixels alone."""
    if sigma_px <= 0:
        return field

    def blurred(image: Float[np.ndarray, "H W"]) -> Float[np.ndarray, " P"]:
        soft = ndimage.gaussian_filter(image, sigma_px, mode="constant", truncate=_SUPPORT)
        return domain.gather(soft)

    share = blurred(domain.mask.astype(float))
    columns = [blurred(domain.scatter(column, fill=0.0)) / share for column in field.T]
    return np.stack(columns, axis=-1)


def variation(
    domain: Domain,
    field: Float[np.ndarray, "P 3"],
    *,
    sigma_px: float,
    margin_px: int,
    smooth_value: bool = False,
) -> Variation:
    """Derivatives of a smoothed field, well inside the mask."""
    soft = smoothed(domain, field, sigma_px)
    pixels = interior(domain, margin_px)
    along_u, along_v = (
        np.stack([central(domain, axis).apply(column)[pixels] for column in soft.T], axis=-1)
        for axis in ("u", "v")
    )
    value = (soft if smooth_value else field)[pixels]
    return Variation(pixels=pixels, value=value, along_x=along_u, along_y=-along_v)


def cofactors(field: Variation) -> tuple[Float[np.ndarray, " 6"], Float[np.ndarray, " 6"]]:
    """The six cofactors that make a field most integrable, and the system's singular values."""
    e = field.value
    columns = [
        sign * (e[:, i] * slope[:, j] - e[:, j] * slope[:, i])
        for sign, slope in ((1.0, field.along_x), (-1.0, field.along_y))
        for i, j in _PAIRS
    ]
    system = np.stack(columns, axis=-1)
    triangle = np.linalg.qr(system, mode="r")
    _, values, right = np.linalg.svd(triangle)
    solution = right[-1]
    largest = solution[np.abs(solution).argmax()]
    return solution * np.sign(largest), np.pad(values, (0, 6 - len(values)))


def first_two_columns(solution: Float[np.ndarray, " 6"]) -> Float[np.ndarray, "3 2"]:
    """Columns one and two of P⁻¹, up to one factor; the third is free (bas-relief)."""
    c12, c13, c23, d12, d13, d23 = solution
    return np.array([[-c23, d23], [c13, -d13], [-c12, d12]])


def bas_relief_start(solution: Float[np.ndarray, " 6"]) -> Float[np.ndarray, "3 3"]:
    """One P of the family: the free column is the cross product of the two others."""
    columns = first_two_columns(solution)
    third = np.cross(columns[:, 0], columns[:, 1])
    size = np.linalg.norm(third)
    if size < 1e-9 * np.linalg.norm(columns) ** 2:  # nothing to learn: a flat object
        return np.eye(3)
    third *= np.linalg.norm(columns[:, 0]) / size
    return np.linalg.inv(np.column_stack([columns, third]))
