"""Pixels that all photos treat alike have the same normal, whatever their albedo and place."""

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.spatial import cKDTree

_DIMENSIONS = 8
_TOLERANCE = 0.03
"""Greatest distance of two intensity profiles of unit length."""
_MOST_PER_PIECE = 300
_NEIGHBOURS = 24


def profile_features(channels: Float[np.ndarray, "M C P"]) -> Float[np.ndarray, "P D"]:
    """Strongest parts of the intensity profiles, which are scaled to unit length per channel."""
    channels = channels.astype(float)
    length = np.linalg.norm(channels, axis=0)
    scaled = channels / np.where(length > 0, length, 1.0) / np.sqrt(channels.shape[1])
    flat = scaled.reshape(-1, scaled.shape[2])
    _, vectors = np.linalg.eigh(flat @ flat.T)
    return np.ascontiguousarray((vectors[:, : -_DIMENSIONS - 1 : -1].T @ flat).T)


def twins(
    features: Float[np.ndarray, "P D"], pixel: Int[np.ndarray, " L"], piece: Int[np.ndarray, " L"]
) -> sparse.csr_matrix:
    """For pixels of every piece, the one most alike in another piece: a symmetric P×P matrix."""
    order = np.argsort(piece, kind="stable")
    pixel, piece = pixel[order], piece[order]
    size = np.bincount(piece)[piece]
    step = -(-size // _MOST_PER_PIECE)
    rank = np.arange(len(piece)) - np.searchsorted(piece, piece)
    pixel, piece = pixel[rank % step == 0], piece[rank % step == 0]
    points = features[pixel]
    count = min(_NEIGHBOURS, len(pixel))
    distance, nearest = cKDTree(points).query(points, count, distance_upper_bound=_TOLERANCE)
    distance, nearest = distance.reshape(-1, count), nearest.reshape(-1, count)
    is_near = np.isfinite(distance)
    nearest = np.where(is_near, nearest, 0)
    is_twin = is_near & (piece[nearest] != piece[:, None])
    has_one = is_twin.any(axis=1)
    first = pixel[has_one]
    second = pixel[nearest[has_one, is_twin[has_one].argmax(axis=1)]]
    size = len(features)
    links = sparse.csr_matrix((np.ones(len(first)), (first, second)), (size, size))
    links = links + links.T
    links.data[:] = 1.0
    return links
