"""One frame for all patches: synchronisation of orthogonal matrices over their overlaps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh

from .patches import Patches

_COMMON_PIXELS = 12
_TRUST = 1e-3
_STEADY = 1e-2
_SHIFT = 1.0 + 1e-5
_SMALL = 400
_EIGENVALUES = 4


@dataclass(frozen=True, eq=False)
class Unified:
    """Normals up to one orthogonal matrix."""

    normals: Float[np.ndarray, "P 3"]
    """Unit where known, else zero."""
    is_known: Bool[np.ndarray, " P"]
    eigenvalues: tuple[float, ...]
    """Four largest; a fourth near the third warns of a loose puzzle."""
    patches: int
    """Patches in the largest connected piece."""


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of patches with pixels in common: B_first · turn ≈ B_second."""

    first: Int[np.ndarray, " E"]
    second: Int[np.ndarray, " E"]
    turn: Float[np.ndarray, "E 3 3"]
    weight: Float[np.ndarray, " E"]


def unified(patches: Patches, pixels: int, rounds: int) -> Unified:
    """Turn the patches of the largest connected piece into one frame and average them."""
    turns = np.zeros((patches.count, 3, 3))
    kept, eigenvalues = np.zeros(0, np.int64), ()
    if patches.count:
        overlaps = overlaps_of(patches, pixels)
        kept, overlaps = _largest_piece(overlaps, patches.count)
        turns[kept], eigenvalues = synchronised(overlaps, len(kept), rounds)
    turned = np.einsum("la,lab->lb", patches.normals, turns[patches.patch])
    total = np.stack(
        [np.bincount(patches.pixel, column, minlength=pixels) for column in turned.T], axis=-1
    )
    length = np.linalg.norm(total, axis=1)
    is_known = length > 1e-9
    normals = np.where(is_known[:, None], total / np.maximum(length, 1e-9)[:, None], 0.0)
    return Unified(normals, is_known, eigenvalues, len(kept))


def overlaps_of(patches: Patches, pixels: int) -> Overlaps:
    """Best orthogonal matrix, reflections allowed, between all patches that overlap enough."""
    shape = (patches.count, pixels)
    place = (patches.patch, patches.pixel)
    columns = [sparse.csr_matrix((column, place), shape) for column in patches.normals.T]
    ones = sparse.csr_matrix((np.ones(len(patches.patch)), place), shape)
    common = sparse.triu(ones @ ones.T, k=1, format="coo")
    is_enough = common.data >= _COMMON_PIXELS
    first, second = common.row[is_enough], common.col[is_enough]
    number = common.data[is_enough]
    moments = np.empty((len(first), 3, 3))
    for i in range(3):
        for j in range(3):
            moments[:, i, j] = np.asarray((columns[i] @ columns[j].T)[first, second]).ravel()
    left, values, right = np.linalg.svd(moments / number[:, None, None])
    residual = np.sqrt(np.maximum(2 - 2 * values.sum(axis=1), 0))
    weight = values[:, 2] / (residual + _TRUST)
    return Overlaps(first, second, left @ right, np.maximum(weight, 1e-12))


def _largest_piece(overlaps: Overlaps, count: int) -> tuple[Int[np.ndarray, " N"], Overlaps]:
    links = sparse.csr_matrix(
        (np.ones(len(overlaps.first)), (overlaps.first, overlaps.second)), (count, count)
    )
    _, labels = csgraph.connected_components(links, directed=False)
    label = np.bincount(labels).argmax()
    kept = np.flatnonzero(labels == label)
    number = np.full(count, -1)
    number[kept] = np.arange(len(kept))
    inside = labels[overlaps.first] == label
    return kept, Overlaps(
        number[overlaps.first[inside]],
        number[overlaps.second[inside]],
        overlaps.turn[inside],
        overlaps.weight[inside],
    )


def synchronised(
    overlaps: Overlaps, count: int, rounds: int
) -> tuple[Float[np.ndarray, "N 3 3"], tuple[float, ...]]:
    """Orthogonal matrices G with G_first G_secondᵀ ≈ turn, and the four largest eigenvalues.

    Eigenvectors of the weighted block matrix; then rounds with weights that let overlaps count
    less the more they disagree.
    """
    if count == 1:
        return np.eye(3)[None], (1.0, 1.0, 1.0)
    weight = overlaps.weight
    turns, eigenvalues = _eigenframes(overlaps, weight, count)
    for _ in range(rounds):
        agreed = turns[overlaps.first] @ np.swapaxes(turns[overlaps.second], 1, 2)
        residual = np.linalg.norm(overlaps.turn - agreed, axis=(1, 2))
        turns, _ = _eigenframes(overlaps, weight / (residual + _STEADY), count)
    return turns, eigenvalues


def _eigenframes(
    overlaps: Overlaps, weight: Float[np.ndarray, " E"], count: int
) -> tuple[Float[np.ndarray, "N 3 3"], tuple[float, ...]]:
    first, second = overlaps.first, overlaps.second
    degree = np.bincount(first, weight, count) + np.bincount(second, weight, count)
    scale = 1 / np.sqrt(degree)
    blocks = overlaps.turn * (weight * scale[first] * scale[second])[:, None, None]
    a, b = np.broadcast_arrays(np.arange(3)[:, None], np.arange(3)[None, :])
    rows = 3 * first[:, None, None] + a
    columns = 3 * second[:, None, None] + b
    upper = sparse.coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), (3 * count,) * 2)
    matrix = (upper + upper.T).tocsc()
    if 3 * count <= _SMALL:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        start = np.random.default_rng(2018).standard_normal(3 * count)
        values, vectors = eigsh(matrix, _EIGENVALUES, sigma=_SHIFT, v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    frames = vectors[:, -3:].reshape(count, 3, 3) * scale[:, None, None]
    left, _, right = np.linalg.svd(frames)
    return left @ right, tuple(float(value) for value in values[: -_EIGENVALUES - 1 : -1])
