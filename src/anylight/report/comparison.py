"""A photo beside its re-rendering, what is left, and the light that was found."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.arrays import Mask
from anylight.model.reconstruction import Reconstruction
from anylight.model.rerendering import rerendered
from anylight.photometry.environment import panorama
from anylight.pictures import Picture, Sheet, radiance_picture, shrink

from .residuals import Residuals
from .story import Story
from .textures import rgb
from .window import Window, object_window, thinned

_OVERSAMPLING = 2
_PANORAMA_HEIGHT = 64
_WARM = np.array([1.0, 0.62, 0.2])
_COLD = np.array([0.25, 0.6, 1.0])


@dataclass(frozen=True, eq=False)
class Comparison:
    """The pictures of one photo; None: not known."""

    photo: Sheet
    rendering: Sheet | None = None
    residual: Sheet | None = None
    light: Picture | None = None


class Darkroom:
    """Makes the pictures of one photo after another from the same thinned pixels."""

    def __init__(self, story: Story, residuals: Residuals, longest: int) -> None:
        self._story, self._residuals, self._longest = story, residuals, longest
        self._window: Window = object_window(story.scene.mask, longest * _OVERSAMPLING)
        self._scene: Reconstruction = thinned(story.scene, self._window)
        self._shown: Float[np.ndarray, "M C P"] | None = None
        scene = story.scene
        if scene.normals is not None and scene.albedo is not None and scene.lighting is not None:
            rows, columns = self._window.places(self._scene.mask)
            self._shown = np.nan_to_num(rerendered(scene, rows, columns)).astype(np.float32)

    def comparison(self, index: int) -> Comparison:
        """The pictures of a photo."""
        white = float(self._residuals.whites[index])
        seen = self._story.radiance(self._window.thin(self._story.photos[index]))
        photo = self._shrunk(radiance_picture(seen, white))
        lighting = self._scene.lighting
        if lighting is None:
            return Comparison(photo)
        light = light_picture(panorama(lighting[index : index + 1], _PANORAMA_HEIGHT)[0])
        if self._shown is None:
            return Comparison(photo, light=light)
        mask = self._scene.mask
        shown = np.zeros_like(seen)
        shown[mask] = self._shown[index].T
        left = np.where(mask[..., None], seen - shown, 0) / white
        return Comparison(
            photo,
            self._shrunk(_on_black(radiance_picture(shown, white), mask)),
            self._shrunk(residual_picture(left, self._residuals.scale)),
            light,
        )

    def _shrunk(self, picture: Picture) -> Sheet:
        return shrink(picture, self._longest)


def light_picture(environment: Float[np.ndarray, "Y X C"]) -> Picture:
    """What somebody at the object sees; light that is negative is black."""
    light = np.nan_to_num(np.maximum(rgb(environment), 0))
    return radiance_picture(light, max(float(np.quantile(light, 0.99)), 1e-12))


def residual_picture(left: Float[np.ndarray, "H W C"], scale: float) -> Picture:
    """Orange where the photo is brighter than its re-rendering, blue where it is darker."""
    mean = np.clip(rgb(left).mean(axis=2, keepdims=True) / scale, -1, 1)
    colour = np.where(mean > 0, mean * _WARM, -mean * _COLD)
    return np.round(255 * np.sqrt(colour)).astype(np.uint8)


def _on_black(picture: Picture, mask: Mask) -> Picture:
    return np.where(mask[..., None], picture, np.uint8(0))
