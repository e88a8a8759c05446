"""Values as pictures to look at: 8-bit RGB arrays."""

import numpy as np
from jaxtyping import Float, UInt8

from anylight.arrays import AlbedoMap, DepthMap, Mask, NormalMap, Photos
from anylight.geometry.camera import Camera
from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.transfer import screen_bytes

Picture = UInt8[np.ndarray, "H W 3"]
Sheet = UInt8[np.ndarray, "h w 3"]
"""A picture of another size than what it was made from."""

_BACKGROUND = 26


def radiance_picture(image: Float[np.ndarray, "H W C"], white: float = 1.0) -> Picture:
    """Linear light as a screen shows it; grey is repeated over the channels."""
    if image.shape[2] < 3:
        image = np.repeat(image[..., :1], 3, axis=2)
    return screen_bytes(image[..., :3] / white)


def depth_picture(depth: DepthMap, mask: Mask) -> Picture:
    """Near is bright, far is dark."""
    inside = depth[mask]
    low, high = np.quantile(inside, [0.005, 0.995])
    nearness = 1 - (depth - low) / max(high - low, 1e-12)
    return _on_background(np.repeat(0.08 + 0.9 * nearness[..., None], 3, axis=2), mask)


def normal_picture(normals: NormalMap, mask: Mask) -> Picture:
    """The usual look (OpenGL): red right, green up, blue to the viewer."""
    return _on_background((normals * [1.0, -1.0, -1.0] + 1) / 2, mask)


def albedo_picture(albedo: AlbedoMap, mask: Mask) -> Picture:
    """Albedo as a screen shows it, its 99.5 % quantile white."""
    white = float(np.quantile(albedo[mask], 0.995))
    return np.where(
        mask[..., None],
        radiance_picture(np.where(mask[..., None], albedo, 0), max(white, 1e-12)),
        np.uint8(_BACKGROUND),
    )


def shaded_picture(normals: NormalMap, mask: Mask, camera: Camera | None = None) -> Picture:
    """The shape alone, white, under a lamp from the upper left and a little fill light."""
    lamp = np.array([-0.5, -0.6, -0.62])
    shade = np.clip(normals @ (lamp / np.linalg.norm(lamp)), 0, 1)
    fill = np.clip(-normals[..., 2], 0, 1)
    if camera is not None:
        u, v = Domain(np.ones_like(mask)).pixels.T
        rays = camera.rays(u, v).reshape(*mask.shape, 3)
        fill = np.clip(-(normals * rays).sum(-1) / np.linalg.norm(rays, axis=-1), 0, 1)
    return _on_background(np.repeat((0.75 * shade + 0.2 * fill)[..., None], 3, axis=2), mask)


def confidence_picture(confidence: Float[np.ndarray, "H W"], mask: Mask) -> Picture:
    """Draw confidence: black is none, white is certain."""
    return _on_background(np.repeat(confidence[..., None], 3, axis=2), mask)


def openness_picture(openness: Float[np.ndarray, "H W"], mask: Mask) -> Picture:
    """Draw openness: black sees nothing of the sky, white all of it."""
    return _on_background(np.repeat(openness[..., None], 3, axis=2), mask)


def mask_picture(photos: Photos, mask: Mask) -> Picture:
    """The brightest of all photos at every pixel, the surroundings tinted."""
    brightest = photos[0].astype(np.float32)
    for photo in photos[1:]:
        np.maximum(brightest, photo, out=brightest)
    white = max(float(np.quantile(brightest[:: max(1, len(brightest) // 200)], 0.995)), 1e-12)
    seen = radiance_picture(brightest, white)
    tinted = np.round(seen * 0.35 + np.array([110.0, 10.0, 70.0])).astype(np.uint8)
    return np.where(mask[..., None], seen, tinted)


def error_picture(
    normals: NormalMap, truth: NormalMap, mask: Mask, white_deg: float = 20.0
) -> Picture:
    """Angle between two normal maps: black is none, white is `white_deg` or more."""
    angle = angles_deg(normals, truth)
    share = np.where(np.isfinite(angle), angle / white_deg, 1.0)
    return _on_background(np.repeat(np.clip(share, 0, 1)[..., None], 3, axis=2), mask)


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
        pictures["confidence"] = confidence_picture(scene.confidence, scene.mask)
    if scene.openness is not None:
        pictures["openness"] = openness_picture(scene.openness, scene.mask)
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
    factor = -(-max(picture.shape[:2]) // longest)
    height, width = (side // factor * factor for side in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // factor, factor, width // factor, factor, 3)
    return np.round(blocks.mean(axis=(1, 3))).astype(np.uint8)


def _on_background(values: Float[np.ndarray, "H W 3"], mask: Mask) -> Picture:
    picture = _bytes(np.where(mask[..., None], values, 0))
    return np.where(mask[..., None], picture, np.uint8(_BACKGROUND))


def _bytes(values: Float[np.ndarray, "H W 3"]) -> Picture:
    return np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)
