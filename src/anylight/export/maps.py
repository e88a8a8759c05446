"""Depth, normals, albedo, confidence and openness as images that say what their numbers mean."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from anylight.geometry.bands import BandMask, Values, fill, finite_pixels
from anylight.geometry.camera import Orthographic
from anylight.io.depths import PREFIX
from anylight.io.images import write_image
from anylight.model.reconstruction import Reconstruction

Convention = Literal["opengl", "directx", "camera"]

_AXES: dict[Convention, tuple[float, float, float]] = {
    "opengl": (1.0, -1.0, -1.0),
    "directx": (1.0, 1.0, -1.0),
    "camera": (1.0, 1.0, 1.0),
}
_FRAMES: dict[Convention, str] = {
    "opengl": "x right, y up, z towards the viewer",
    "directx": "x right, y down, z towards the viewer",
    "camera": "x right, y down, z forward",
}
_DEPTH_FRAME = "depth along the optical axis; camera: x right, y down, z forward"
_TOP = 65535
_NOISY: dict[str, str | int] = {"Compression": "rle", "png:filter": 128}
"""Of PNG: 16 bits of measured values never repeat, and looking for what does makes larger files in
twice the time; every pixel is told by its neighbours (Paeth's filter)."""


def write_depth(folder: Path, scene: Reconstruction) -> None:
    """Write `depth.exr` (channel Z, NaN outside) and `depth.png` (16 bit, 0 outside)."""
    if scene.depth is None:
        return
    depth, holds = scene.depth, scene.mask & np.isfinite(scene.depth)
    said = {"unit": _unit(scene), "frame": _DEPTH_FRAME}
    inside = np.full((*holds.shape, 1), np.nan, np.float32)
    fill(inside, holds, lambda rows, held: depth[rows][held][:, None])
    write_image(folder / "depth.exr", inside, _words(said), ["Z"])
    known = depth[holds]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    step = float(high - low) / (_TOP - 1) or 1.0
    coding = {
        "offset": repr(float(low)),
        "step": repr(step),
        "formula": "depth = offset + (value - 1) * step; value 0 is outside",
    }

    def levels(rows: slice, held: BandMask) -> Float[np.ndarray, "n 1"]:
        return np.round((depth[rows][held][:, None] - low) / step) + 1

    _write_levels(folder / "depth.png", holds, 1, levels, said | coding)


def _unit(scene: Reconstruction) -> str:
    if scene.unit is not None:
        return scene.unit
    if isinstance(scene.camera, Orthographic):
        return "pixel" if scene.pixel_mm is None else f"pixel of {scene.pixel_mm:.6g} mm"
    return "arbitrary"


def write_normals(folder: Path, scene: Reconstruction, convention: Convention) -> None:
    """Write `normals.exr` and `normals.png` (16 bit over [−1, 1]); black outside."""
    if scene.normals is None:
        return
    normals, axes = scene.normals, _AXES[convention]
    holds = scene.mask & finite_pixels(normals)
    said = {"convention": convention, "frame": _FRAMES[convention]}
    field = np.zeros(normals.shape, np.float32)
    fill(field, holds, lambda rows, held: normals[rows][held] * axes)
    write_image(folder / "normals.exr", field, _words(said))
    coding = {"formula": "normal = value / 65535 * 2 - 1; black is outside"}

    def levels(rows: slice, held: BandMask) -> Float[np.ndarray, "n 3"]:
        return np.clip(np.round((normals[rows][held] * axes + 1) / 2 * _TOP), 1, _TOP)

    _write_levels(folder / "normals.png", holds, 3, levels, said | coding | _NOISY)


def write_albedo(folder: Path, scene: Reconstruction) -> None:
    """Write linear `albedo.exr` and, if grey or RGB, `albedo.png` (16 bit); black outside."""
    if scene.albedo is None:
        return
    albedo = scene.albedo
    holds = scene.mask & finite_pixels(albedo)
    said = {"transfer": "linear"}
    field = np.zeros(albedo.shape, np.float32)
    fill(field, holds, lambda rows, held: albedo[rows][held])
    write_image(folder / "albedo.exr", field, _words(said))
    if albedo.shape[2] not in (1, 3):
        return
    scale = max(1.0, float(albedo[holds].max(initial=0)))
    coding = {
        "scale": repr(scale),
        "formula": "albedo = value / 65535 * scale, linear, not sRGB",
        "oiio:ColorSpace": "lin_rec709_scene",
    }

    def levels(rows: slice, held: BandMask) -> Float[np.ndarray, "n C"]:
        return np.round(np.clip(albedo[rows][held] / scale, 0, 1) * _TOP)

    _write_levels(folder / "albedo.png", holds, albedo.shape[2], levels, said | coding | _NOISY)


def write_confidence(folder: Path, scene: Reconstruction) -> None:
    """Write `confidence.png`: 8 bit, black is none, white is certain."""
    if scene.confidence is not None:
        formula = "confidence = value / 255 = 1 / (1 + (sigma / 5 degrees)^2)"
        _write_shares(folder / "confidence.png", scene.confidence, scene.mask, formula)


def write_openness(folder: Path, scene: Reconstruction) -> None:
    """Write `openness.png`: 8 bit, black sees nothing of the sky, white all of it."""
    if scene.openness is not None:
        formula = "share of an even sky that reaches the surface (ambient occlusion) = value / 255"
        _write_shares(folder / "openness.png", scene.openness, scene.mask, formula)


def _write_shares(
    path: Path, shares: Float[np.ndarray, "H W"], mask: Bool[np.ndarray, "H W"], formula: str
) -> None:
    levels = np.zeros((*mask.shape, 1), np.uint8)
    holds = mask & np.isfinite(shares)
    fill(
        levels, holds, lambda rows, held: np.round(np.clip(shares[rows][held], 0, 1) * 255)[:, None]
    )
    write_image(path, levels, {"formula": formula, "oiio:ColorSpace": "data"})


def _words(said: Mapping[str, str]) -> dict[str, str]:
    """What an EXR says; no date, so that the same values give the same bytes."""
    return {"DateTime": "", **{PREFIX + keyword: text for keyword, text in said.items()}}


def _write_levels(
    path: Path,
    holds: Bool[np.ndarray, "H W"],
    channels: int,
    levels: Values,
    said: Mapping[str, str | int],
) -> None:
    pixels = np.zeros((*holds.shape, channels), np.uint16)
    fill(pixels, holds, levels)
    write_image(path, pixels, {"oiio:ColorSpace": "data", **said})
