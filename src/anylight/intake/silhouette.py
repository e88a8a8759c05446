"""A mask from the photos alone: what varies with the light, by colour and connection.

A lamp near the object lights it and leaves the room behind it dark and unchanging. So the first
guess takes pixels whose brightness varies most (Otsu's threshold); where the surroundings vary as
much, it takes what differs in colour from the frame's rim. Then, as in GrabCut, object and
background are described by a few Gaussians each (brightness, variation, colour), and every pixel
asks its neighbours, unless an edge is between them. Small photos decide; the outline is sharpened
at full resolution.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Shaped
from scipy import ndimage, sparse
from scipy.sparse.linalg import cg

from anylight.arrays import Mask
from anylight.geometry.bands import bands
from anylight.photometry.means import block_means, grey
from anylight.threads import chunks, in_parallel, num_threads

_WORKING_SIDE = 320
_ROUNDS = 4
_GAUSSIANS = 3
_COUPLING = 12.0
"""How much a pixel listens to a neighbour of its own colour, against its own evidence."""
_RIM = 0.04
"""Share of the frame that counts as its rim."""
_SMALL_HOLE = 0.02
"""Holes up to this share of the object are filled."""
_DISTINCT, _DIFFERENT = 5.0, 1.8
"""Contrast that surroundings have at the least: anywhere, and if they enclose the object."""
_ENCLOSED = 0.05
"""Share of the rim that an enclosed object may touch."""
_LEAST_SIDE = 8
"""Photos that are narrower have no surroundings."""
_PIECE = 0.15
"""Pieces of at least this share of the largest are kept."""


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A mask that was made, and how much it can be trusted."""

    mask: Mask
    contrast: float
    """How far apart object and background are, in standard deviations."""
    fills_frame: bool
    """Nothing could be told apart from the object: every pixel counts."""


def find_silhouette(
    photos: Shaped[np.ndarray, "M H W C"], progress: Callable[[float], None] | None = None
) -> Silhouette:
    """Tell the object from its surroundings.

    Args:
        photos: in linear light, as stored.
        progress: told about the finished share.
    """
    shape = photos.shape[1:3]
    whole = Silhouette(np.ones(shape, bool), 0.0, True)
    if min(shape) < _LEAST_SIDE:
        return whole
    step = max(1, min(max(shape) // _WORKING_SIDE, *shape))
    mean, spread = _statistics(photos, step, lambda share: progress and progress(0.8 * share))
    features = _features(mean, spread)
    if np.ptp(features[..., :2]) < 1e-6:
        return whole
    inside = _first_guess(features)
    neighbours = _neighbourhood(features)
    share = np.zeros(inside.shape)
    enough = 2 * features.shape[2] * _GAUSSIANS
    for _ in range(_ROUNDS):
        if min(inside.sum(), (~inside).sum()) < enough:
            break
        share = _believed(_evidence(features, inside), neighbours)
        found = share > 0.5
        if not 0.002 < found.mean() < 0.995:
            break
        inside = found
    coarse = _tidy(share > 0.5)
    contrast = _contrast(features, coarse)
    if _fills_frame(coarse, contrast, _contrast(features[..., :2], coarse)):
        return replace(whole, contrast=contrast)
    mask = _sharpened(photos, np.where(_near(coarse), share, coarse), step) if step > 1 else coarse
    if progress is not None:
        progress(1.0)
    mask = _tidy(mask)
    return Silhouette(mask, contrast, False) if mask.any() else replace(whole, contrast=contrast)


def _fills_frame(mask: Mask, contrast: float, in_light: float) -> bool:
    """Whether what was told apart are parts of the object rather than its surroundings.

    Surroundings are much darker and steadier than the object (paint differs in colour alone), or
    at least all around it.
    """
    on_rim = mask[_rim(mask.shape)].mean()
    is_distinct = in_light > _DISTINCT or (contrast > _DIFFERENT and on_rim < _ENCLOSED)
    return not (is_distinct and 0.005 < mask.mean() < 0.97 and on_rim < 0.9)


def _statistics(
    photos: Shaped[np.ndarray, "M H W C"], step: int, progress: Callable[[float], object]
) -> tuple[Float[np.ndarray, "h w C"], Float[np.ndarray, "h w"]]:
    """Mean colour, and the standard deviation of brightness over the photos, on small photos."""
    height, width = (side // step for side in photos.shape[1:3])
    total = np.zeros((height, width, photos.shape[3]))
    first, second = np.zeros(total.shape[:2]), np.zeros(total.shape[:2])
    top = np.iinfo(photos.dtype).max if photos.dtype.kind == "u" else 1.0
    for part in chunks(len(photos), num_threads()):
        for small in in_parallel(lambda photo: block_means(photo, step), photos[part]):
            share = small.astype(np.float32) / top
            mean = share.mean(axis=2)
            total += share
            first += mean
            second += mean**2
        progress(part.stop / len(photos))
    count = len(photos)
    return total / count, np.sqrt(np.maximum(second / count - (first / count) ** 2, 0))


def _features(
    mean: Float[np.ndarray, "h w C"], spread: Float[np.ndarray, "h w"]
) -> Float[np.ndarray, "h w F"]:
    """Logarithms of brightness and variation, and colour, each in units of its own spread."""
    bright = mean.mean(axis=2)
    floor = 0.01 * max(float(np.quantile(bright, 0.95)), 1e-9)
    layers = [np.log(bright + floor), np.log(spread + 0.3 * floor)]
    if mean.shape[2] >= 3:
        red, green, blue = (np.log(mean[..., c] + 2 * floor) for c in range(3))
        layers += [red - green, (red + green) / 2 - blue]
    stack = np.stack([ndimage.gaussian_filter(layer, 0.7) for layer in layers], axis=-1)
    return (stack - stack.mean(axis=(0, 1))) / (stack.std(axis=(0, 1)) + 1e-3)


def _rim(shape: tuple[int, ...]) -> Bool[np.ndarray, "h w"]:
    rim = np.ones(shape, bool)
    wide = [max(1, round(_RIM * side)) for side in shape]
    rim[wide[0] : -wide[0], wide[1] : -wide[1]] = False
    return rim


def _first_guess(features: Float[np.ndarray, "h w F"]) -> Bool[np.ndarray, "h w"]:
    variation = features[..., 1] + 0.5 * features[..., 0]
    guess: Bool[np.ndarray, "h w"] = variation > _otsu(variation)
    rim = _rim(guess.shape)
    if guess[rim].mean() < 0.5:
        return guess
    usual, spread = features[rim].mean(axis=0), features[rim].std(axis=0) + 0.1
    strange = (((features - usual) / spread) ** 2).sum(axis=-1)
    return strange > _otsu(np.log(strange + 1.0), of=strange)


def _otsu(values: np.ndarray, of: np.ndarray | None = None) -> float:
    """Threshold that separates a histogram best; in the values of another array of that order."""
    counts, edges = np.histogram(values, 128)
    centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    sums = np.cumsum(counts * centres)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    threshold = float(edges[1:][np.nanargmax(np.where(above > 0, between, np.nan))])
    return threshold if of is None else float(of[values <= threshold].max())


def _evidence(
    features: Float[np.ndarray, "h w F"], inside: Bool[np.ndarray, "h w"]
) -> Float[np.ndarray, "h w"]:
    """Probability of the object by what each pixel looks like."""
    scores = [_log_density(features, chosen) for chosen in (inside, ~inside)]
    return 1 / (1 + np.exp(np.clip(scores[1] - scores[0], -30, 30) / 2))


def _log_density(
    features: Float[np.ndarray, "h w F"], chosen: Bool[np.ndarray, "h w"]
) -> Float[np.ndarray, "h w"]:
    """Best of a few Gaussians, found by k-means from quantiles of the first feature."""
    samples = features[chosen]
    samples = samples[:: max(1, len(samples) // 20_000)]
    order = np.argsort(samples[:, 0])
    picks = order[((np.arange(_GAUSSIANS) + 0.5) / _GAUSSIANS * len(order)).astype(int)]
    centres = samples[picks]
    for _ in range(8):
        nearest = ((samples[:, None] - centres) ** 2).sum(-1).argmin(1)
        centres = np.stack(
            [
                samples[nearest == k].mean(0) if (nearest == k).any() else centres[k]
                for k in range(_GAUSSIANS)
            ]
        )
    best = np.full(features.shape[:2], -np.inf)
    for k in range(_GAUSSIANS):
        own = samples[nearest == k]
        if len(own) < 2 * features.shape[2]:
            continue
        covariance = np.cov(own.T) + 0.02 * np.eye(features.shape[2])
        away = features - own.mean(0)
        distance = np.einsum("hwi,ij,hwj->hw", away, np.linalg.inv(covariance), away, optimize=True)
        volume = np.linalg.slogdet(covariance)[1]
        best = np.maximum(best, np.log(len(own) / len(samples)) - 0.5 * (distance + volume))
    return best


def _neighbourhood(features: Float[np.ndarray, "h w F"]) -> sparse.csr_array:
    """Laplacian of the pixel grid whose links break at edges."""
    height, width = features.shape[:2]
    numbers = np.arange(height * width).reshape(height, width)
    links = []
    for axis in (0, 1):
        change = (np.diff(features, axis=axis) ** 2).sum(-1)
        usual = max(float(change.mean()), 1e-9)
        first, second = (
            np.take(numbers, np.arange(a, numbers.shape[axis] - 1 + a), axis) for a in (0, 1)
        )
        links.append((first.ravel(), second.ravel(), np.exp(-change / usual).ravel()))
    here, there, weight = (np.concatenate(parts) for parts in zip(*links, strict=True))
    size = height * width
    one_way = sparse.coo_array((weight, (here, there)), (size, size)).tocsr()
    both = one_way + one_way.T
    return sparse.csr_array(sparse.diags_array(both.sum(axis=1)) - both)


def _believed(
    evidence: Float[np.ndarray, "h w"], laplacian: sparse.csr_array
) -> Float[np.ndarray, "h w"]:
    """Evidence after asking the neighbours."""
    system = _COUPLING * laplacian + sparse.eye_array(evidence.size)
    diagonal = sparse.diags_array(1 / system.diagonal())
    found, _ = cg(system, evidence.ravel(), x0=evidence.ravel(), rtol=1e-3, maxiter=200, M=diagonal)
    believed: Float[np.ndarray, "h w"] = found.reshape(evidence.shape)
    return believed


def _tidy(mask: Mask) -> Mask:
    """The largest pieces, without small holes and without specks."""
    opened = ndimage.binary_opening(mask, iterations=1)
    pieces, count = ndimage.label(opened)
    if not count:
        return mask
    sizes = np.bincount(pieces.ravel())
    sizes[0] = 0
    kept = np.isin(pieces, np.flatnonzero(sizes >= _PIECE * sizes.max()))
    kept = ndimage.binary_propagation(kept, mask=mask & ndimage.binary_dilation(kept, iterations=2))
    holes, count = ndimage.label(~kept)
    sizes = np.bincount(holes.ravel(), minlength=count + 1)
    open_air = np.unique(np.concatenate([holes[0], holes[-1], holes[:, 0], holes[:, -1]]))
    small = (sizes <= _SMALL_HOLE * kept.sum()) & ~np.isin(np.arange(count + 1), open_air)
    small[0] = False
    tidy: Mask = kept | small[holes]
    return tidy


def _near(mask: Mask) -> Mask:
    """Pixels near the outline, on both sides."""
    grown: Mask = ndimage.binary_dilation(mask, iterations=2)
    return grown & ~ndimage.binary_erosion(mask, iterations=2, border_value=1)


def _contrast(features: Float[np.ndarray, "h w F"], mask: Mask) -> float:
    if not mask.any() or mask.all():
        return 0.0
    inside, outside = features[mask], features[~mask]
    spread = np.sqrt((inside.var(0) + outside.var(0)) / 2) + 1e-6
    return float(np.sqrt((((inside.mean(0) - outside.mean(0)) / spread) ** 2).max()))


def _sharpened(
    photos: Shaped[np.ndarray, "M H W C"], share: Float[np.ndarray, "h w"], step: int
) -> Mask:
    """Bring the outline to full resolution: locally, object-ness is linear in log brightness."""
    guide = np.zeros(photos.shape[1:3], np.float32)
    bright = photos[:: max(1, len(photos) // 8)]

    def add(rows: slice) -> None:
        for photo in bright:
            guide[rows] += grey(photo[rows])

    in_parallel(add, bands(guide.shape))
    guide += 0.01 * max(float(guide[::step, ::step].max()), 1e-9)
    np.log(guide, out=guide)
    small = block_means(guide, step)
    window = 5
    mean_guide, mean_share = (ndimage.uniform_filter(x, window) for x in (small, share))
    variance = ndimage.uniform_filter(small**2, window) - mean_guide**2
    covariance = ndimage.uniform_filter(small * share, window) - mean_guide * mean_share
    slope = covariance / (variance + 1e-2)
    level = mean_share - slope * mean_guide
    slope, level = (ndimage.uniform_filter(x, window) for x in (slope, level))
    mask = np.empty(guide.shape, bool)

    def sharpen(rows: slice) -> None:
        plain, up, on = (
            _enlarged(x, step, rows, photos.shape[2]) for x in (share.astype(float), slope, level)
        )
        mask[rows] = np.where(np.abs(plain - 0.5) < 0.45, up * guide[rows] + on, plain) > 0.5

    in_parallel(sharpen, bands(guide.shape))
    return mask


def _enlarged(
    small: Float[np.ndarray, "h w"], step: int, rows: slice, width: int
) -> Float[np.ndarray, "H W"]:
    """Bilinear interpolation between the centres of blocks, some rows of it."""
    v = np.clip((np.arange(rows.start, rows.stop) + 0.5) / step - 0.5, 0, small.shape[0] - 1)
    u = np.clip((np.arange(width) + 0.5) / step - 0.5, 0, small.shape[1] - 1)
    r, c = (
        np.minimum(v.astype(int), max(small.shape[0] - 2, 0)),
        np.minimum(u.astype(int), max(small.shape[1] - 2, 0)),
    )
    a, b = (v - r)[:, None], (u - c)[None]
    r2, c2 = np.minimum(r + 1, small.shape[0] - 1), np.minimum(c + 1, small.shape[1] - 1)
    above = small[r] * (1 - a) + small[r2] * a
    return above[:, c] * (1 - b) + above[:, c2] * b
