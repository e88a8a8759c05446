"""Pixels that all photos treat alike have the same normal, whatever their albedo and place."""

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.spatial import cKDTree

_DIMENSIONS = 8
_TOLERANCE = 0.03
"""Greatest distance of two intensity profiles of unit length."""
_MOST_PIXELS = 15_000


def profile_features(channels: Float[np.ndarray, "M C P"]) -> Float[np.ndarray, "P D"]:
    """Strongest parts of the intensity profiles, which are scaled to unit length per channel."""
    length = np.linalg.norm(channels, axis=0)
    scaled = channels / np.where(length > 0, length, 1.0) / np.sqrt(channels.shape[1])
    flat = scaled.reshape(-1, scaled.shape[2])
    _, vectors = np.linalg.eigh(flat @ flat.T)
    return np.ascontiguousarray((vectors[:, : -_DIMENSIONS - 1 : -1].T @ flat).T)


def twins(
    features: Float[np.ndarray, "P D"], pixel: Int[np.ndarray, " L"], piece: Int[np.ndarray, " L"]
) -> sparse.csr_matrix:
    """For pixels of every piece, the one most alike in another piece: a symmetric P×P matrix."""
    step = -(-len(pixel) // _MOST_PIXELS)
    pixel, piece = pixel[::step], piece[::step]
    here, there = [], []
    for number in np.unique(piece):
        own, other = pixel[piece == number], pixel[piece != number]
        if len(other) == 0:
            continue
        distance, nearest = cKDTree(features[other]).query(
            features[own], distance_upper_bound=_TOLERANCE
        )
        is_near = np.isfinite(distance)
        here.append(own[is_near])
        there.append(other[nearest[is_near]])
    empty = np.zeros(0, np.int64)
    first, second = np.concatenate([empty, *here]), np.concatenate([empty, *there])
    size = len(features)
    links = sparse.csr_matrix((np.ones(len(first)), (first, second)), (size, size))
    links = links + links.T
    links.data[:] = 1.0
    return links
