"""Colours and normals of the surface as textures of the viewer, and its lights."""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from anylight.arrays import AlbedoMap, Lighting, Mask, NormalMap
from anylight.geometry.bands import finite_pixels
from anylight.photometry.transfer import screen_bytes
from anylight.pictures import Sheet

from .embedding import jpeg, png
from .window import Window, reduced

_SHADER_HARMONICS = 9


def paint_texture(
    albedo: AlbedoMap, mask: Mask, white: float, window: Window, longest: int, quality: int
) -> dict[str, object]:
    """Albedo over white in sRGB, and the pixels that the texture spans."""
    image = rgb(window.thin(albedo))
    inside = window.thin(mask) & finite_pixels(image)
    values, held = reduced(image, inside, _factor(window, longest))
    coded = screen_bytes(values / white)
    return _texture(jpeg(spread(coded, held), quality), window, longest)


def bump_texture(normals: NormalMap, mask: Mask, window: Window, longest: int) -> dict[str, object]:
    """Normals (x right, y up, z to the viewer), −1 to 1 as 0 to 255."""
    image = window.thin(normals)
    inside = window.thin(mask) & finite_pixels(image)
    values, held = reduced(image, inside, _factor(window, longest))
    values = values * [1.0, -1.0, -1.0]
    length = np.maximum(np.linalg.norm(values, axis=2, keepdims=True), 1e-12)
    coded = np.round((values / length + 1) * 127.5).astype(np.uint8)
    return _texture(png(spread(coded, held)), window, longest)


def shader_lights(
    lighting: Lighting, paint_white: float, whites: Float[np.ndarray, " M"]
) -> Float[np.ndarray, "M 9 3"]:
    """Lighting up to order two, so scaled that a photo's white is one on paint over white."""
    num = min(lighting.shape[2], _SHADER_HARMONICS)
    coefficients = np.zeros((len(lighting), _SHADER_HARMONICS, lighting.shape[1]))
    coefficients[:, :num] = np.moveaxis(lighting[:, :, :num], 1, 2)
    return rgb(coefficients) * (paint_white / whites)[:, None, None]


def rgb(image: Float[np.ndarray, "*n C"]) -> Float[np.ndarray, "*n 3"]:
    """The channels that a screen shows: the first three, or the first one three times."""
    if image.shape[-1] < 3:
        return np.repeat(image[..., :1], 3, axis=-1)
    return image[..., :3]


def _factor(window: Window, longest: int) -> int:
    return -(-max(window.height, window.width) // longest)


def _texture(address: str, window: Window, longest: int) -> dict[str, object]:
    factor = _factor(window, longest)
    span = [-(-side // factor) * factor for side in (window.width, window.height)]
    return {"address": address, "span": span}


def spread(picture: Sheet, held: Mask) -> Sheet:
    """Continue the object's values outwards, so that filtering at the rim finds no background."""
    if held.all() or not held.any():
        return picture
    rows, columns = ndimage.distance_transform_edt(
        ~held, return_distances=False, return_indices=True
    )
    return picture[rows, columns]
