"""One round of bilateral integration: which side of every pixel keeps its slope.

Arrays lie flat on the padded grid of pixels.
"""

import math

import numpy as np

from anylight.threads import loop

from .direction_table import slopes_seen
from .viewing import ray

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


@loop(_OPTIONS, over="places")
def wish(begin, end, unit, camera, pixels, places, lean, slopes, strengths):
    """Slopes (2, N) that pixels want along both axes, and how much their wishes count.

    Normals (3, P) lean at most `lean` from their ray. [radians] Those that are seen directly count
    more. Places where there is no pixel are left alone.
    """
    fu, fv = camera[0] if camera[0] > 0.0 else 1.0, camera[1] if camera[0] > 0.0 else 1.0
    for j in range(begin, end):
        x, y, z = ray(camera, pixels, j)
        a, b, c = unit[0, j], unit[1, j], unit[2, j]
        p, q, facing = slopes_seen(x, y, z, a, b, c, camera, lean)
        k = places[j]
        slopes[0, k], slopes[1, k] = p, q
        strengths[0, k], strengths[1, k] = (fu * facing) ** 2, (fv * facing) ** 2


@loop(_OPTIONS, over="height", margin="step", grain=4096)
def weigh(begin, end, height, slope, strength, inside, step, sharpness, sure, even, coupling, lack):
    """Coupling to the next pixel along an axis, which is minus its weight, and what it lacks.

    That is its weight times what is missing from the step there to the slopes that are wanted.

    Args:
        height: flat, of every place.
        slope: wanted by the pixel along this axis.
        strength: how much a pixel's wish counts.
        inside: which places are pixels.
        step: to the next place along this axis.
        sharpness: how decidedly the side that fits worse loses its weight.
        sure: exponent beyond which a side has all the weight, or none.
        even: both sides count the same, whatever the height.
        coupling: to fill.
        lack: to fill.
    """
    for k in range(begin, end):
        weight, missing = 0.0, 0.0
        if not (inside[k] and inside[k + step]):
            coupling[k] = lack[k] = weight
            continue
        gap = height[k + step] - height[k]
        for here, side in ((k, 1.0), (k + step, -1.0)):
            share = 0.5
            if not even and inside[here - step] and inside[here + step]:
                ahead = height[here + step] - height[here] - slope[here]
                behind = height[here] - height[here - step] - slope[here]
                doubt = sharpness * strength[here] * (ahead * ahead - behind * behind) * side
                share = 1.0 / (1.0 + math.exp(min(max(doubt, -sure), sure)))
            weight += strength[here] * share
            missing += strength[here] * share * (slope[here] - gap)
        coupling[k] = -weight
        lack[k] = missing


@loop(_OPTIONS, over="centre", margin="step", grain=4096)
def gather(begin, end, hold, inside, step, right, down, to_right, to_down, centre, source):
    """Diagonal and right-hand side of the normal equations of a change; `step` is one row."""
    for k in range(begin, end):
        if inside[k]:
            centre[k] = hold - (right[k] + right[k - 1]) - (down[k] + down[k - step])
            source[k] = (to_right[k - 1] - to_right[k]) + (to_down[k - step] - to_down[k])
        else:
            centre[k] = np.float32(0)
            source[k] = np.float32(0)
