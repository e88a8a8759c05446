"""The light of every photo: coefficients, environment maps, and directions for RTI viewers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jaxtyping import Float

from anylight.arrays import Lighting
from anylight.io.images import save_environment, write_image
from anylight.io.lp import write_lp
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import panorama
from anylight.photometry.harmonics import half_cosine, order_of

CONVENTION = (
    "photo / exposure = albedo * sum_k coefficients[channel][k] * Y_k(normal), with the factors "
    "k_l of the half-cosine (pi, 2 pi/3, pi/4, 0, -pi/24, ...) in the coefficients; Y are the real "
    "orthonormal spherical harmonics, by degree l = 0, 1, 2, 4, 6, 8, then m = -l ... l, without "
    "the Condon-Shortley sign, Y_1 = sqrt(3 / 4 pi) (y, z, x); camera frame: x right, y down, "
    "z forward"
)
_DOMINANT = (
    "direction to the light by degree one of the radiance, mean of the channels (opengl: x right, "
    "y up, z towards the viewer); strength: irradiance of the one lamp that has this degree one"
)
_FRONT = (0.0, 0.0, -1.0)


@dataclass(frozen=True)
class Dominant:
    """Where most of a photo's light comes from."""

    direction: tuple[float, float, float]
    """Unit, camera frame; towards the camera if no side is brighter than the others."""
    strength: float
    """Irradiance of the one lamp that has the same degree-one radiance."""


def dominant_lights(lighting: Lighting) -> list[Dominant]:
    """Direction and strength of every photo's degree-one light."""
    if lighting.shape[2] < 4:
        return [Dominant(_FRONT, 0.0)] * len(lighting)
    first = lighting[..., [3, 1, 2]].mean(axis=1) / half_cosine(1) / np.sqrt(3 / (4 * np.pi))
    return [_dominant(vector) for vector in first]


def photo_names(scene: Reconstruction, names: tuple[str, ...]) -> list[str]:
    """Name of the photo of every light; `names` are of these photos or of the whole capture."""
    if scene.lighting is None or len(names) == len(scene.lighting):
        return list(names)
    numbers = range(len(scene.lighting)) if scene.photos is None else scene.photos.tolist()
    return [names[number] if number < len(names) else str(number) for number in numbers]


def write_lights(folder: Path, scene: Reconstruction, names: tuple[str, ...]) -> None:
    """Write `lighting.json`, `lights.lp` and the maps `lights/light_00.hdr` and so on.

    Light is that of equal exposures, where these are known. Maps of other than one or three
    channels are `.exr`; light that is the same from all sides (order 0) has no directions to list.
    """
    if scene.lighting is None:
        return
    lighting = scene.lighting
    if scene.exposures is not None:
        lighting = lighting / scene.exposures[:, None, None]
    photos, dominant = photo_names(scene, names), dominant_lights(lighting)
    _write_json(folder / "lighting.json", lighting, photos, dominant)
    if lighting.shape[2] > 1:
        lamps = [(name, _opengl(lamp)) for name, lamp in zip(photos, dominant, strict=True)]
        write_lp(folder / "lights.lp", lamps)
    (folder / "lights").mkdir(exist_ok=True)
    for index, light in enumerate(panorama(lighting)):
        stem = folder / "lights" / f"light_{index:02d}"
        if light.shape[2] in (1, 3):
            save_environment(stem.with_suffix(".hdr"), light)
        else:
            cut = np.maximum(light, 0).astype(np.float32)
            write_image(stem.with_suffix(".exr"), cut, {"DateTime": ""})


def _write_json(path: Path, lighting: Lighting, photos: list[str], lamps: list[Dominant]) -> None:
    record: dict[str, Any] = {
        "generator": "anylight",
        "order": order_of(lighting.shape[2]),
        "convention": CONVENTION,
        "dominant": _DOMINANT,
        "photos": [
            {
                "file": name,
                "coefficients": coefficients.tolist(),
                "dominant": {
                    "camera": lamp.direction,
                    "opengl": _opengl(lamp),
                    "strength": lamp.strength,
                },
            }
            for name, coefficients, lamp in zip(photos, lighting, lamps, strict=True)
        ],
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


def _dominant(vector: Float[np.ndarray, "3"]) -> Dominant:
    strength = float(np.linalg.norm(vector))
    if not strength > 0:
        return Dominant(_FRONT, 0.0)
    x, y, z = (vector / strength).tolist()
    return Dominant((x, y, z), strength)


def _opengl(lamp: Dominant) -> tuple[float, float, float]:
    x, y, z = lamp.direction
    return (x, 0.0 - y, 0.0 - z)
