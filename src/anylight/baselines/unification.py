"""One frame for all patches: synchronisation of orthogonal matrices over their overlaps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh

from .patches import Patches
from .twins import twins

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


def unified(
    patches: Patches, pixels: int, rounds: int, features: Float[np.ndarray, "P D"] | None = None
) -> Unified:
    """Turn patches into one frame and average them.

    First the patches of every connected piece; then, if features of the pixels' profiles are given,
    the pieces by pixels that are alike. What stays apart from the largest piece is left out.
    """
    if patches.count == 0:
        return Unified(np.zeros((pixels, 3)), np.zeros(pixels, bool), (), 0)
    same = sparse.identity(pixels, format="csr")
    overlaps = overlaps_of(patches, same)
    labels = _pieces(overlaps, patches.count)
    turns = np.empty((patches.count, 3, 3))
    eigenvalues: tuple[float, ...] = ()
    order = np.argsort(-np.bincount(labels), kind="stable")
    for label in order:
        kept, inner = _within(overlaps, labels == label)
        turns[kept], values = synchronised(inner, len(kept), rounds)
        eigenvalues = values if label == order[0] else eigenvalues
    pieces = _averaged(patches, turns, labels, pixels)
    if pieces.count > 1 and features is not None:
        alike = twins(features, pieces.pixel, pieces.patch)
        overlaps = overlaps_of(pieces, same + alike)
        joined = _pieces(overlaps, pieces.count)
        size = np.bincount(joined, np.bincount(pieces.patch, minlength=pieces.count))
        label = int(size.argmax())
        kept, inner = _within(overlaps, joined == label)
        turns = np.zeros((pieces.count, 3, 3))
        turns[kept], _ = synchronised(inner, len(kept), rounds)
    else:
        label = int(np.bincount(pieces.patch).argmax())
        joined = np.arange(pieces.count)
        turns = np.tile(np.eye(3), (pieces.count, 1, 1))
    whole = _averaged(pieces, turns, joined, pixels)
    is_taken = whole.patch == label
    normals = np.zeros((pixels, 3))
    normals[whole.pixel[is_taken]] = whole.normals[is_taken]
    is_known = np.zeros(pixels, bool)
    is_known[whole.pixel[is_taken]] = True
    return Unified(normals, is_known, eigenvalues, int(np.isin(joined[labels], label).sum()))


def _averaged(
    patches: Patches,
    turns: Float[np.ndarray, "N 3 3"],
    labels: Int[np.ndarray, " N"],
    pixels: int,
) -> Patches:
    """Every piece (patches of one label) as one large patch."""
    turned = np.einsum("la,lab->lb", patches.normals, turns[patches.patch])
    key = labels[patches.patch].astype(np.int64) * pixels + patches.pixel
    keys, place = np.unique(key, return_inverse=True)
    total = np.stack([np.bincount(place, column, len(keys)) for column in turned.T], axis=-1)
    length = np.linalg.norm(total, axis=1)
    is_good = length > 1e-9
    return Patches(
        patch=keys[is_good] // pixels,
        pixel=keys[is_good] % pixels,
        normals=total[is_good] / length[is_good, None],
        count=int(labels.max()) + 1,
        rejected=0,
    )


def overlaps_of(patches: Patches, same: sparse.csr_matrix) -> Overlaps:
    """Best orthogonal matrix, reflections allowed, between all patches that overlap enough.

    `same` is a symmetric P×P matrix with a one for every two pixels that share their normal.
    """
    shape = (patches.count, same.shape[0])
    place = (patches.patch, patches.pixel)
    columns = [sparse.csr_matrix((column, place), shape) for column in patches.normals.T]
    ones = sparse.csr_matrix((np.ones(len(patches.patch)), place), shape)
    common = sparse.triu(ones @ same @ ones.T, k=1, format="coo")
    is_enough = common.data >= _COMMON_PIXELS
    first, second = common.row[is_enough], common.col[is_enough]
    number = common.data[is_enough]
    moments = np.zeros((len(first), 3, 3))
    for i in range(3 if len(first) else 0):
        for j in range(3):
            product = (columns[i] @ same @ columns[j].T).tocsr()
            moments[:, i, j] = np.asarray(product[first, second]).ravel()
    left, values, right = np.linalg.svd(moments / number[:, None, None])
    residual = np.sqrt(np.maximum(2 - 2 * values.sum(axis=1), 0))
    weight = values[:, 2] / (residual + _TRUST)
    return Overlaps(first, second, left @ right, np.maximum(weight, 1e-12))


def _pieces(overlaps: Overlaps, count: int) -> Int[np.ndarray, " N"]:
    """Label of the connected piece of every patch."""
    links = sparse.csr_matrix(
        (np.ones(len(overlaps.first)), (overlaps.first, overlaps.second)), (count, count)
    )
    return csgraph.connected_components(links, directed=False)[1]


def _within(
    overlaps: Overlaps, is_kept: Bool[np.ndarray, " N"]
) -> tuple[Int[np.ndarray, " K"], Overlaps]:
    """The patches kept, and the overlaps among them with their new numbers."""
    kept = np.flatnonzero(is_kept)
    number = np.cumsum(is_kept) - 1
    inside = is_kept[overlaps.first] & is_kept[overlaps.second]
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
