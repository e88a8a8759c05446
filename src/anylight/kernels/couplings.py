"""How changes of the surface act on the light of every photo, over a sample of pixels."""

import numpy as np

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="p", grain=1)
def across(begin, end, p, q, by_p, by_q, weight, harmonics, out):
    """Σ w (p ∂S/∂p + q ∂S/∂q) h over the pixels, (m, C, R, K), mode by mode.

    Slopes of the modes are (m, n), derivatives of the shading (C, R, n), weights (C, n), harmonics
    (n, K).
    """
    channels, photos, num = by_p.shape
    change = np.empty((photos, num), np.float32)
    for k in range(begin, end):
        along_p, along_q = p[k], q[k]
        for c in range(channels):
            heavy = weight[c]
            for i in range(photos):
                row, a, b = change[i], by_p[c, i], by_q[c, i]
                for j in range(num):
                    row[j] = heavy[j] * (along_p[j] * a[j] + along_q[j] * b[j])
            np.dot(change, harmonics, out[k, c])
