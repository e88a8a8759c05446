"""A result to look at: its surface, its maps, and every photo beside its re-rendering."""

from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float, Shaped

from anylight.intake.reduction import reduced
from anylight.io.archive import load_reconstruction
from anylight.io.images import jpeg_bytes
from anylight.model.reconstruction import Reconstruction
from anylight.model.rerendering import rerendered
from anylight.photometry.environment import panorama
from anylight.pictures import Picture, radiance_picture, scene_pictures
from anylight.report.comparison import light_picture, residual_picture
from anylight.report.textures import rgb, shader_lights
from anylight.report.window import Window, object_window, thinned

from .packing import packed_scene

_VERTICES, _TEXTURE = 160_000, 1024
_SIDE = 700
"""Longest side of the pictures of a result. [pixels]"""
_QUALITY = 90
_PROFILE = 240
"""Heights along a line."""
_FULL_ERROR = 0.05
"""Share of white at which an error is shown in full colour."""


class Outcome:
    """A result that was read from its folder."""

    def __init__(self, folder: Path, photos: Shaped[np.ndarray, "M H W C"], full: float) -> None:
        """Read a result.

        Args:
            folder: of the result.
            photos: of the session, all of them, in the order of its names.
            full: stored value that means a radiance of one.
        """
        self.scene: Reconstruction = load_reconstruction(folder / "result.npz")
        self.record = msgspec.json.decode((folder / "run.json").read_bytes())
        self._photos, self._full = photos, full

    def packed(self, number: int) -> bytes | None:
        """The surface as the viewer takes it."""
        return packed_scene(self.scene, _VERTICES, _TEXTURE, kind="result", number=number)

    @cached_property
    def window(self) -> Window:
        """The pixels of all pictures."""
        return object_window(self.scene.mask, _SIDE)

    @cached_property
    def _small(self) -> Reconstruction:
        return thinned(self.scene, self.window)

    @cached_property
    def pictures(self) -> dict[str, Picture]:
        """Maps by name, of the window's pixels."""
        pictures = scene_pictures(self._small)
        if self._shown is not None:
            pictures["error"] = self._error()
        return pictures

    def picture(self, name: str) -> bytes | None:
        """A map as a JPEG file; None if there is no such map."""
        found = self.pictures.get(name)
        return None if found is None else jpeg_bytes(found, _QUALITY)

    def places(self, names: tuple[str, ...]) -> list[int]:
        """Which photos of the session were used."""
        return [names.index(name) for name in self.record["photos"] if name in names]

    @cached_property
    def _shown(self) -> Float[np.ndarray, "M C n"] | None:
        scene = self.scene
        if scene.normals is None or scene.albedo is None or scene.lighting is None:
            return None
        rows, columns = self.window.places(self._small.mask)
        return np.nan_to_num(rerendered(scene, rows, columns)).astype(np.float32)

    def _seen(self, place: int) -> Float[np.ndarray, "h w C"]:
        """A photo at the result's resolution, cut to its window."""
        photo, full = self._photos[place], self._full
        factor = int(self.record["intake"]["downscale"])
        if factor > 1:
            photo = reduced(photo[None], factor)[0]
            full = 65535.0 if photo.dtype == np.uint16 else full
        left, top = self.record["capture"]["cropped_at"]
        height, width = self.scene.mask.shape
        light = self.window.thin(photo[top : top + height, left : left + width])
        return np.nan_to_num(light.astype(np.float32) / np.float32(full))

    def comparison(self, index: int, place: int, kind: str) -> bytes | None:
        """One of the pictures of a photo: photo, rendering, residual or light.

        Args:
            index: of the photo among those that were used.
            place: of the photo in the session.
            kind: which picture.
        """
        seen, mask = self._seen(place), self._small.mask
        if not mask.any():
            return None
        white = max(float(np.quantile(seen[mask], 0.995)), 1e-12)
        if kind == "photo":
            return jpeg_bytes(radiance_picture(seen, white), _QUALITY)
        if kind == "light" and self.scene.lighting is not None:
            found = light_picture(panorama(self.scene.lighting[index : index + 1], 64)[0])
            return jpeg_bytes(found, _QUALITY)
        if self._shown is None:
            return None
        shown = np.zeros_like(seen)
        shown[mask] = self._shown[index].T
        if kind == "rendering":
            return jpeg_bytes(radiance_picture(shown, white), _QUALITY)
        left = np.where(mask[..., None], seen - shown, 0) / white
        return jpeg_bytes(residual_picture(left, _FULL_ERROR), _QUALITY)

    def _error(self) -> Picture:
        """Root mean square over all photos of what is unexplained, dark blue to yellow."""
        assert self._shown is not None
        mask = self._small.mask
        total, white = np.zeros(np.count_nonzero(mask)), 1e-12
        used = self.record["places"]
        for index, place in enumerate(used):
            seen = self._seen(place)[mask].T
            total += ((seen - self._shown[index]) ** 2).mean(axis=0)
            white = max(white, float(np.quantile(seen, 0.99)))
        error = np.sqrt(total / max(len(used), 1)) / white
        share = np.sqrt(np.clip(error / _FULL_ERROR, 0, 1))[:, None]
        colours = np.array([[24, 28, 60], [60, 90, 150], [120, 170, 140], [240, 220, 90]])
        at = share * (len(colours) - 1)
        low = np.minimum(at.astype(int), len(colours) - 2)
        picture = np.full((*mask.shape, 3), 26, np.uint8)
        mixed = colours[low[:, 0]] * (1 - (at - low)) + colours[low[:, 0] + 1] * (at - low)
        picture[mask] = np.round(mixed).astype(np.uint8)
        return picture

    def lights(self) -> list[list[float]]:
        """Coefficients of the light of every photo for the viewer's shader."""
        scene = self.scene
        if scene.lighting is None or scene.albedo is None:
            return []
        inside = rgb(scene.albedo)[scene.mask]
        paint = max(float(np.nanquantile(inside, 0.995)), 1e-12)
        mask = self._small.mask
        seen = [self._seen(place)[mask] for place in self.record["places"]]
        whites = np.array([max(float(np.quantile(one, 0.995)), 1e-12) for one in seen])
        lights = shader_lights(scene.lighting, paint, whites)
        return [[float(f"{number:.5g}") for number in light.ravel()] for light in lights]

    def profile(self, ends: tuple[float, float, float, float]) -> dict[str, Any]:
        """Heights along a line across the photo; NaN becomes None."""
        scene = self.scene
        assert scene.depth is not None
        assert scene.camera is not None
        x0, y0, x1, y1 = ends
        share = np.linspace(0, 1, _PROFILE)
        u, v = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        height, width = scene.mask.shape
        columns = np.clip(np.round(u), 0, width - 1).astype(int)
        rows = np.clip(np.round(v), 0, height - 1).astype(int)
        depth = np.where(scene.mask, scene.depth, np.nan)[rows, columns]
        points = scene.camera.points(u, v, depth)
        known = np.isfinite(depth)
        if np.count_nonzero(known) < 2:
            return {"along": [], "heights": [], "unit": ""}
        pixel = scene.pixel_mm or 1.0
        unit: str = scene.unit or ("mm" if scene.pixel_mm else "")
        points = points * (pixel if scene.pixel_mm else 1.0)
        if not unit:
            everywhere = scene.depth[scene.mask]
            rows_all, columns_all = np.nonzero(scene.mask)
            extent = scene.camera.points(
                columns_all.astype(float), rows_all.astype(float), everywhere
            )
            points = points * (100 / max(float(np.nanmax(np.ptp(extent[:, :2], axis=0))), 1e-12))
            unit = "% of the object’s size"
        first = points[known][0]
        along = np.hypot(points[:, 0] - first[0], points[:, 1] - first[1])
        heights = np.nanmax(points[:, 2]) - points[:, 2]
        return {
            "along": [
                round(float(x), 5) if ok else None for x, ok in zip(along, known, strict=True)
            ],
            "heights": [
                round(float(x), 5) if ok else None for x, ok in zip(heights, known, strict=True)
            ],
            "unit": unit,
        }
