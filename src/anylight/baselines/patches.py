r"""Small windows of one albedo, each solved up to an orthogonal matrix (Hayakawa's closure).

Within a window the light is taken for directional: photos of rank three, $J = Y V^\top$. Equal
albedo asks for a symmetric C with $y^\top C y = 1$ at every pixel; $C^{1/2} y$ are then the normals
up to one orthogonal matrix.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.sparse import csgraph

from anylight.geometry.domain import ABSENT, Domain

_BATCH = 256
_MONOMIALS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_MAX_CONDITION = 1e4
_LEAST_RANK = 1e-3
_MAX_SPREAD = 0.1
_ENLARGEMENT = 1.5
_ALBEDO_STEP = 0.1
"""A pixel whose mean log ratio to another is greater than this may have another albedo …"""
_ALBEDO_STEADINESS = 0.5
"""… and has, if the ratio deviates less than this share of it from photo to photo."""
_DARKEST = 0.02
"""Share of a photo's bright end below which ratios mean nothing."""
_BLACK = 1e-3
"""Share of the median pixel's strength below which a pixel tells nothing."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Normals of the pixels of every patch, up to an orthogonal matrix per patch."""

    patch: Int[np.ndarray, " L"]
    """Number of the patch of each entry."""
    pixel: Int[np.ndarray, " L"]
    normals: Float[np.ndarray, "L 3"]
    count: int
    rejected: int
    """Patches that could not be solved, not counted in `count`."""


@dataclass(frozen=True)
class Windows:
    """Where patches lie."""

    side: int
    stride: int
    least_pixels: int

    def enlarged(self) -> "Windows":
        """The same windows, larger."""
        side = int(self.side * _ENLARGEMENT) // 2 * 2 + 1
        return Windows(side, self.stride, self.least_pixels)


def solved_patches(
    domain: Domain,
    photos: Float[np.ndarray, "P M"],
    channels: Float[np.ndarray, "M C P"] | None,
    windows: Windows,
) -> Patches:
    """Cut the object into windows, keep one albedo in each (if channels are given), solve."""
    strength = np.sqrt((photos**2).mean(axis=1))
    is_lit = strength > _BLACK * np.median(strength)
    profiles = None if channels is None else _profiles(channels)
    patch, pixel, normals = [], [], []
    tried = count = 0
    for members in _members(domain, is_lit, profiles, windows):
        inside = members != ABSENT
        solution, is_good = solve_patches(photos[members] * inside[:, :, None], inside)
        rows, places = np.nonzero(inside & is_good[:, None])
        numbers = np.cumsum(is_good) - 1 + count
        patch.append(numbers[rows])
        pixel.append(members[rows, places])
        normals.append(solution[rows, places])
        tried += len(is_good)
        count += int(np.count_nonzero(is_good))
    empty = np.zeros(0, np.int64)
    return Patches(
        patch=np.concatenate([empty, *patch]),
        pixel=np.concatenate([empty, *pixel]),
        normals=np.concatenate([np.zeros((0, 3)), *normals]),
        count=count,
        rejected=tried - count,
    )


def solve_patches(
    photos: Float[np.ndarray, "N Q M"], inside: Bool[np.ndarray, "N Q"]
) -> tuple[Float[np.ndarray, "N Q 3"], Bool[np.ndarray, " N"]]:
    """Unit normals up to an orthogonal matrix, and which patches have them.

    Rows outside are zero. Patches that are flat, developable or of an indefinite form have none.
    """
    number = np.maximum(np.count_nonzero(inside, axis=1), 1)[:, None]
    squares, mixes = np.linalg.eigh(np.swapaxes(photos, 1, 2) @ photos)
    squares, mixes = squares[:, :-4:-1], mixes[:, :, :-4:-1]  # the three strongest
    strongest = np.maximum(squares[:, 0], 1e-300)
    is_good = squares[:, 2] > _LEAST_RANK**2 * strongest
    parts = photos @ mixes
    size = np.sqrt((parts**2).sum(axis=1) / number)
    parts /= np.maximum(size, 1e-150)[:, None, :]

    monomials = np.stack([parts[:, :, i] * parts[:, :, j] for i, j in _MONOMIALS], axis=-1)
    monomials[:, :, 3:] *= 2.0
    squared = np.swapaxes(monomials, 1, 2) @ monomials
    values, vectors = np.linalg.eigh(squared)
    is_good &= values[:, 0] > values[:, -1] / _MAX_CONDITION**2
    values = np.where(is_good[:, None], values, 1.0)
    wanted = monomials.sum(axis=1)[:, :, None]
    form = (vectors @ ((np.swapaxes(vectors, 1, 2) @ wanted) / values[:, :, None]))[:, :, 0]
    matrix = np.empty((len(form), 3, 3))
    for k, (i, j) in enumerate(_MONOMIALS):
        matrix[:, i, j] = matrix[:, j, i] = form[:, k]

    values, vectors = np.linalg.eigh(matrix)
    is_good &= values[:, 0] > 0
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :] @ np.swapaxes(vectors, 1, 2)
    scaled = parts @ root
    length = np.linalg.norm(scaled, axis=2)
    mean = (length.sum(axis=1, keepdims=True)) / number
    spread = np.sqrt((((length - mean) * inside) ** 2).sum(axis=1) / number[:, 0])
    is_good &= spread <= _MAX_SPREAD
    return scaled / np.where(length > 0, length, 1.0)[:, :, None], is_good


def one_albedo(
    profiles: Float[np.ndarray, "N Q C M"],
    segments: Int[np.ndarray, "N Q"],
    inside: Bool[np.ndarray, "N Q"],
    side: int,
) -> Bool[np.ndarray, "N Q"]:
    """Largest set of pixels in each window that share segment and albedo of one of them.

    Profiles are logarithms of intensities. Where albedo changes but not the normal, the ratio of
    two pixels is the same in all photos; where the normal changes, it is not.
    """
    mean = profiles.mean(axis=3)
    rest = profiles - mean[..., None]
    variance = (rest**2).mean(axis=3)
    steps = np.round(np.linspace(side // 6, side - 1 - side // 6, 3)).astype(int)
    best = np.zeros(inside.shape, bool)
    most = np.zeros(len(inside), int)
    for place in (row * side + column for row in steps for column in steps):
        ratio = mean - mean[:, place, None]
        together = np.einsum("nqcm,ncm->nqc", rest, rest[:, place]) / rest.shape[3]
        deviation = np.maximum(variance + variance[:, place, None] - 2 * together, 0)
        same = inside & ~_is_other(ratio, deviation) & inside[:, place, None]
        same &= segments == segments[:, place, None]
        count = np.count_nonzero(same, axis=1)
        is_larger = count > most
        best[is_larger] = same[is_larger]
        most = np.maximum(most, count)
    return best


def _is_other(
    ratio: Float[np.ndarray, "*n C"], deviation: Float[np.ndarray, "*n C"]
) -> Bool[np.ndarray, "*n"]:
    """Whether two pixels differ in albedo: mean of their log ratio in a channel, its variance."""
    is_steady = deviation < (_ALBEDO_STEADINESS * ratio) ** 2
    return (is_steady & (np.abs(ratio) > _ALBEDO_STEP)).any(axis=-1)


def albedo_segments(domain: Domain, profiles: Float[np.ndarray, "P C M"]) -> Int[np.ndarray, " P"]:
    """Label of the piece, between steps of the albedo from pixel to pixel, of every pixel."""
    here, there = [], []
    for step in ((1, 0), (0, 1)):
        near = domain.neighbour(*step)
        first = np.flatnonzero(near != ABSENT)
        second = near[first]
        log_ratio = profiles[first] - profiles[second]
        is_joined = ~_is_other(log_ratio.mean(axis=2), log_ratio.var(axis=2))
        here.append(first[is_joined])
        there.append(second[is_joined])
    rows, columns = np.concatenate(here), np.concatenate(there)
    links = sparse.csr_matrix((np.ones(len(rows), bool), (rows, columns)), (domain.size,) * 2)
    return csgraph.connected_components(links, directed=False)[1]


def _profiles(channels: Float[np.ndarray, "M C P"]) -> Float[np.ndarray, "P C M"]:
    bright = np.quantile(channels, 0.99, axis=2, keepdims=True)
    floor = _DARKEST * np.maximum(bright, max(1e-6 * float(bright.max()), 1e-30))
    logs = np.log(np.maximum(channels, floor)).astype(np.float32)
    return np.ascontiguousarray(np.transpose(logs, (2, 1, 0)))


def _members(
    domain: Domain,
    is_lit: Bool[np.ndarray, " P"],
    profiles: Float[np.ndarray, "P C M"] | None,
    windows: Windows,
) -> Iterator[Int[np.ndarray, "N Q"]]:
    """Pixels of the windows, in batches; −1 where a window has none."""
    rows, columns = (np.arange(0, size, windows.stride) for size in domain.mask.shape)
    centres = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    segments = None if profiles is None else albedo_segments(domain, profiles)
    numbers = domain.scatter(np.where(is_lit, np.arange(domain.size), ABSENT), fill=ABSENT)
    for attempt, shape in enumerate((windows, windows.enlarged())):
        margin = shape.side // 2
        padded = np.pad(numbers, margin, constant_values=ABSENT)
        offset = np.arange(shape.side)
        short = []
        for start in range(0, len(centres), _BATCH):
            batch = centres[start : start + _BATCH]
            v = batch[:, 0, None, None] + offset[None, :, None]
            u = batch[:, 1, None, None] + offset[None, None, :]
            members = padded[v, u].reshape(len(batch), -1)
            inside = members != ABSENT
            is_large = np.count_nonzero(inside, axis=1) >= shape.least_pixels
            batch, members, inside = batch[is_large], members[is_large], inside[is_large]
            if profiles is not None and segments is not None and len(members):
                inside = one_albedo(profiles[members], segments[members], inside, shape.side)
                is_large = np.count_nonzero(inside, axis=1) >= shape.least_pixels
                short.append(batch[~is_large])
                members = np.where(inside, members, ABSENT)[is_large]
            if len(members):
                yield members
        if attempt or profiles is None or not short:
            return
        centres = np.concatenate(short)
