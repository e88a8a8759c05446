"""One round of bilateral integration: which side of every pixel keeps its slope.

Arrays lie flat on the padded grid of pixels.
"""

import math

import numpy as np

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False}


@loop(_OPTIONS, over="height", margin="step", grain=16384)
def weigh(begin, end, height, slope, strength, inside, step, sharpness, sure, even, weight, target):
    """Weight of the step to the next pixel along an axis, and weight times the slope wanted there.

    Args:
        height: flat, of every place.
        slope: wanted by the pixel along this axis.
        strength: how much a pixel's wish counts.
        inside: which places are pixels.
        step: to the next place along this axis.
        sharpness: how decidedly the side that fits worse loses its weight.
        sure: exponent beyond which a side has all the weight, or none.
        even: both sides count the same, whatever the height.
        weight: to fill.
        target: to fill.
    """
    for k in range(begin, end):
        weight[k] = 0.0
        target[k] = 0.0
        if not (inside[k] and inside[k + step]):
            continue
        for here, side in ((k, 1.0), (k + step, -1.0)):
            share = 0.5
            if not even and inside[here - step] and inside[here + step]:
                ahead = height[here + step] - height[here] - slope[here]
                behind = height[here] - height[here - step] - slope[here]
                doubt = sharpness * strength[here] * (ahead * ahead - behind * behind) * side
                share = 1.0 / (1.0 + math.exp(min(max(doubt, -sure), sure)))
            weight[k] += strength[here] * share
            target[k] += strength[here] * share * slope[here]


@loop(_OPTIONS, over="height", margin="step", grain=16384)
def gather(begin, end, height, hold, inside, step, right, down, to_right, to_down, centre, source):
    """Diagonal and right-hand side of the normal equations; `step` is one row."""
    for k in range(begin, end):
        if inside[k]:
            centre[k] = hold + right[k] + right[k - 1] + down[k] + down[k - step]
            source[k] = hold * height[k] + to_right[k - 1] - to_right[k]
            source[k] += to_down[k - step] - to_down[k]
        else:
            centre[k] = np.float64(0)
            source[k] = 0.0
