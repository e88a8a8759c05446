"""Systems with known Cholesky factors, several of them side by side."""

import numpy as np

from anylight.threads import loop

_OPTIONS = {"cache": True, "error_model": "numpy", "boundscheck": False, "fastmath": True}


@loop(_OPTIONS, over="right", grain=1)
def solve(begin, end, lower, right):
    """Solve L Lᵀ x = b for every factor (C, n, n) and right-hand side (C, n), in place."""
    for c in range(begin, end):
        factor, x = lower[c], right[c]
        for i in range(len(x)):
            row, total = factor[i], np.float32(0)
            for j in range(i):
                total += row[j] * x[j]
            x[i] = (x[i] - total) / row[i]
        for i in range(len(x) - 1, -1, -1):
            row = factor[i]
            x[i] /= row[i]
            value = x[i]
            for j in range(i):
                x[j] -= row[j] * value
