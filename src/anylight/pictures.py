"""Values as pictures to look at: 8-bit RGB arrays."""

import numpy as np
from jaxtyping import Float, UInt8

from anylight.arrays import AlbedoMap, DepthMap, Mask, NormalMap, Photos
from anylight.geometry.bands import BandMask, Values, bands, fill
from anylight.geometry.camera import Camera
from anylight.geometry.normals import angles_deg
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.means import block_means
from anylight.photometry.transfer import screen_bytes
from anylight.threads import in_parallel

Picture = UInt8[np.ndarray, "H W 3"]
Sheet = UInt8[np.ndarray, "h w 3"]
"""A picture of another size than what it was made from."""

_BACKGROUND = 26


def radiance_picture(
    image: Float[np.ndarray, "*n C"], white: float = 1.0
) -> UInt8[np.ndarray, "*n 3"]:
    """Linear light as a screen shows it; grey is repeated over the channels."""
    if image.shape[-1] < 3:
        image = np.repeat(image[..., :1], 3, axis=-1)
    return screen_bytes(image[..., :3] / white)


def depth_picture(depth: DepthMap, mask: Mask) -> Picture:
    """Near is bright, far is dark."""
    low, high = np.quantile(depth[mask], [0.005, 0.995])

    def nearness(rows: slice, inside: BandMask) -> Float[np.ndarray, "n 1"]:
        near = 1 - (depth[rows][inside] - low) / max(high - low, 1e-12)
        return 0.08 + 0.9 * near[:, None]

    return _drawn(mask, nearness)


def normal_picture(normals: NormalMap, mask: Mask) -> Picture:
    """The usual look (OpenGL): red right, green up, blue to the viewer."""
    return _drawn(mask, lambda rows, inside: (normals[rows][inside] * [1.0, -1.0, -1.0] + 1) / 2)


def albedo_picture(albedo: AlbedoMap, mask: Mask) -> Picture:
    """Albedo as a screen shows it, its 99.5 % quantile white."""
    white = max(float(np.quantile(albedo[mask], 0.995)), 1e-12)
    picture = np.full((*mask.shape, 3), _BACKGROUND, np.uint8)
    fill(picture, mask, lambda rows, inside: radiance_picture(albedo[rows][inside], white))
    return picture


def shaded_picture(normals: NormalMap, mask: Mask, camera: Camera | None = None) -> Picture:
    """The shape alone, white, under a lamp from the upper left and a little fill light."""
    lamp = np.array([-0.5, -0.6, -0.62])
    lamp /= np.linalg.norm(lamp)

    def shade(rows: slice, inside: BandMask) -> Float[np.ndarray, "n 1"]:
        own = normals[rows][inside]
        facing = -own[:, 2]
        if camera is not None:
            v, u = np.nonzero(inside)
            rays = camera.rays(u.astype(float), (v + rows.start).astype(float))
            length = np.sqrt(np.einsum("ij,ij->i", rays, rays))
            facing = -np.einsum("ij,ij->i", own, rays) / length
        light = 0.75 * np.clip(own @ lamp, 0, 1) + 0.2 * np.clip(facing, 0, 1)
        return light[:, None]

    return _drawn(mask, shade)


def share_picture(share: Float[np.ndarray, "H W"], mask: Mask) -> Picture:
    """Draw a share: black is none, white is all (of confidence, of the sky that is seen)."""
    return _drawn(mask, lambda rows, inside: share[rows][inside][:, None])


def mask_picture(photos: Photos, mask: Mask) -> Picture:
    """The brightest of all photos at every pixel, the surroundings tinted."""
    brightest, picture = photos[0].copy(), np.empty((*mask.shape, 3), np.uint8)

    def find(rows: slice) -> None:
        for photo in photos[1:]:
            np.maximum(brightest[rows], photo[rows], out=brightest[rows])

    in_parallel(find, bands(mask.shape))
    some = brightest[:: max(1, len(brightest) // 200)].astype(np.float32)
    white = max(float(np.quantile(some, 0.995)), 1e-12)
    tints = np.round(np.arange(256)[:, None] * 0.35 + [110.0, 10.0, 70.0]).astype(np.uint8)

    def draw(rows: slice) -> None:
        seen = radiance_picture(brightest[rows].astype(np.float32), white)
        outside = ~mask[rows]
        seen[outside] = tints[seen[outside], np.arange(3)]
        picture[rows] = seen

    in_parallel(draw, bands(mask.shape))
    return picture


def error_picture(
    normals: NormalMap, truth: NormalMap, mask: Mask, white_deg: float = 20.0
) -> Picture:
    """Angle between two normal maps: black is none, white is `white_deg` or more."""

    def share(rows: slice, inside: BandMask) -> Float[np.ndarray, "n 1"]:
        angle = angles_deg(normals[rows][inside], truth[rows][inside])
        return np.where(np.isfinite(angle), angle / white_deg, 1.0)[:, None]

    return _drawn(mask, share)


def scene_pictures(scene: Reconstruction) -> dict[str, Picture]:
    """What a scene knows, each as a picture: shaded, depth, normals, albedo and so on."""
    pictures = {}
    if scene.normals is not None:
        pictures["shaded"] = shaded_picture(scene.normals, scene.mask, scene.camera)
    if scene.depth is not None:
        pictures["depth"] = depth_picture(scene.depth, scene.mask)
    if scene.normals is not None:
        pictures["normals"] = normal_picture(scene.normals, scene.mask)
    if scene.albedo is not None:
        pictures["albedo"] = albedo_picture(scene.albedo, scene.mask)
    if scene.confidence is not None:
        pictures["confidence"] = share_picture(scene.confidence, scene.mask)
    if scene.openness is not None:
        pictures["openness"] = share_picture(scene.openness, scene.mask)
    return pictures


def contact_sheet(pictures: list[Picture], columns: int, gap: int = 4) -> Sheet:
    """Pictures of one size side by side, row by row."""
    height, width, _ = pictures[0].shape
    rows = -(-len(pictures) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for index, picture in enumerate(pictures):
        top, left = (index // columns) * (height + gap), (index % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = picture
    return sheet


def shrink(picture: Picture, longest: int) -> Sheet:
    """Reduce a picture by a whole factor so that no side exceeds a length."""
    return shrink_by(picture, shrinking(picture.shape, longest))


def shrinking(shape: tuple[int, ...], longest: int) -> int:
    """Whole factor by which a picture is reduced so that no side exceeds a length."""
    return -(-max(shape[:2]) // longest)


def shrink_by(picture: Picture, factor: int) -> Sheet:
    """Reduce a picture: means of blocks of so many pixels per side."""
    return np.round(block_means(picture, factor)).astype(np.uint8)


def _drawn(mask: Mask, values: Values) -> Picture:
    """Values from 0 to 1 as bytes, on the background; one value is grey."""
    picture = np.full((*mask.shape, 3), _BACKGROUND, np.uint8)
    fill(picture, mask, lambda rows, inside: _bytes(values(rows, inside)))
    return picture


def _bytes(values: Float[np.ndarray, "n c"]) -> UInt8[np.ndarray, "n c"]:
    return np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)
