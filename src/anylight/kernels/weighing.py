"""How much facets count by how well they have the normals of their pixels, pixel by pixel."""

import math

import numpy as np
from jaxtyping import Float, Real

from anylight.threads import loop

from .facets import tilts

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="length")
def _metric(begin, end, unit, length, camera, pixels, form):
    for j in range(begin, end):
        px, pz, qy, qz = tilts(camera, pixels, j)
        x, y, z = unit[0, j], unit[1, j], unit[2, j]
        on_p, on_q, square = x * px + z * pz, y * qy + z * qz, length[j] * length[j]
        form[0, j] = (px * px + pz * pz - on_p * on_p) / square
        form[1, j] = (pz * qz - on_p * on_q) / square
        form[2, j] = (qy * qy + qz * qz - on_q * on_q) / square


def metric(
    unit: Float[np.ndarray, "3 P"],
    length: Float[np.ndarray, " P"],
    camera: tuple[float, float, float, float],
    pixels: Real[np.ndarray, "P 2"],
) -> Float[np.ndarray, "3 P"]:
    """Squared turn of the normal by p, the product of both turns, and by q."""
    form = np.empty((3, len(length)), np.float32)
    _metric(np.ascontiguousarray(unit), length, camera, pixels, form)
    return form


@loop(_OPTIONS, over="cover")
def weigh(
    begin, end, slopes, camera, pixels, unit, form, cover, scale, wanted, blocks, pull, weight
):  # fmt: skip
    """Weigh every facet by the squared distance of its normal from the one that is wanted.

    Args:
        slopes: (2, P) of the facets.
        camera: (f_u, f_v, u_0, v_0), 0: parallel.
        pixels: of the facets.
        unit: normals that are wanted.
        form: the metric there.
        cover: how much a pixel counts by itself.
        scale: squared distance at which a facet counts half.
        wanted: slopes (2, P) that are wanted.
        blocks: to fill: the metric as facets count.
        pull: to fill: these times the slopes.
        weight: to fill.
    """
    for j in range(begin, end):
        u, v, p, q = slopes[0, j], slopes[1, j], wanted[0, j], wanted[1, j]
        px, pz, qy, qz = tilts(camera, pixels, j)
        x, y, w = px * u, qy * v, pz * u + qz * v - 1.0
        short = 1.0 / math.sqrt(x * x + y * y + w * w)
        x, y, w = x * short - unit[0, j], y * short - unit[1, j], w * short - unit[2, j]
        share = scale / (scale + x * x + y * y + w * w)
        heavy = share * cover[j]
        uu, uv, vv = heavy * form[0, j], heavy * form[1, j], heavy * form[2, j]
        weight[j] = share
        blocks[0, j], blocks[1, j], blocks[2, j] = uu, uv, vv
        pull[0, j], pull[1, j] = uu * p + uv * q, uv * p + vv * q
