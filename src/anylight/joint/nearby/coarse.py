"""The small dense system of light, closeness and smooth surface changes under near lamps.

They can make up for each other, so they precondition a step together. A sample of pixels is enough
to know their couplings.
"""

import numpy as np
import scipy.linalg
from jaxtyping import Float

from anylight.joint.problem.fit import Light

_RIDGE = 1e-5
"""What keeps the light's couplings positive definite, relative to them. (guard)"""
_SMOOTH_RIDGE = 1e-4
"""The same for the smooth changes. (guard)"""


class NearCoarse:
    """Couplings of light, closeness and smooth changes; channels know of each other through both.

    Args:
        changes: of the samples, root of the weight included.
        response: the same.
        albedo: of the pixels.
        taken: directions of the samples that albedo and turns make up for.
    """

    def __init__(
        self,
        changes: Float[np.ndarray, "m s N"],
        response: Float[np.ndarray, "s A"],
        albedo: Float[np.ndarray, "s C"],
        taken: Float[np.ndarray, "3 s N"],
    ) -> None:
        left = changes.copy()
        for own in taken[1:]:
            left -= own * (own * changes).sum(axis=2, keepdims=True)
        flat = left.reshape(len(left), -1)
        self._among = (flat @ changes.reshape(len(left), -1).T).astype(float)
        channels = albedo.shape[1]
        self._columns = changes.shape[2] // channels
        self._own, self._across = [], []
        for c in range(channels):
            columns = slice(c * self._columns, (c + 1) * self._columns)
            scaled = response * albedo[:, c : c + 1]
            outer = (taken[:, :, columns, None] * scaled[None, :, None, :]).reshape(
                -1, self._columns * scaled.shape[1]
            )
            own = -(outer.T @ outer)
            square, size = scaled.T @ scaled, scaled.shape[1]
            for k in range(0, len(own), size):
                own[k : k + size, k : k + size] += square
            self._own.append(own.astype(float))
            across = [(change[:, columns].T @ scaled).ravel() for change in left]
            self._across.append(np.stack(across).astype(float))

    def damp(self, damping: float) -> Float[np.ndarray, " N"]:
        """Factorise with damping of the light, relative to its curvature; returns it."""
        matrix, held = self._among.copy(), []
        self._factors, self._answers = [], []
        for own, across in zip(self._own, self._across, strict=True):
            size = float(np.trace(own)) / len(own)
            held.append(damping * size)
            factor = scipy.linalg.cho_factor(
                own + (damping + _RIDGE) * size * np.eye(len(own)), lower=True, check_finite=False
            )
            answer = scipy.linalg.cho_solve(factor, across.T, check_finite=False)
            self._factors.append(factor)
            self._answers.append(answer)
            matrix -= across @ answer
        matrix = (matrix + matrix.T) / 2
        matrix += _SMOOTH_RIDGE * np.diag(np.diag(self._among))
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        if lowest <= 0:
            matrix -= 2 * lowest * np.eye(len(matrix))
        self._inverse = scipy.linalg.cho_factor(matrix, check_finite=False)
        return np.repeat(held, self._columns)

    def solve(
        self, amounts: Float[np.ndarray, " m"], light: Light
    ) -> tuple[Float[np.ndarray, " m"], Light]:
        """Amounts and light that answer a right-hand side."""
        found = []
        for c, factor in enumerate(self._factors):
            wanted = light[:, c * self._columns : (c + 1) * self._columns].T.ravel()
            found.append(scipy.linalg.cho_solve(factor, wanted, check_finite=False))
            amounts = amounts - self._across[c] @ found[-1]
        moved = scipy.linalg.cho_solve(self._inverse, amounts, check_finite=False)
        out = np.empty_like(light)
        for c, own in enumerate(found):
            each = (own - self._answers[c] @ moved).reshape(self._columns, -1)
            out[:, c * self._columns : (c + 1) * self._columns] = each.T
        return moved, out
