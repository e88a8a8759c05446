"""Depth, normals, albedo, confidence and openness as images that say what their numbers mean."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Shaped

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


def write_depth(folder: Path, scene: Reconstruction) -> None:
    """Write `depth.exr` (channel Z, NaN outside) and `depth.png` (16 bit, 0 outside)."""
    if scene.depth is None:
        return
    depth, holds = scene.depth, scene.mask & np.isfinite(scene.depth)
    said = {"unit": _unit(scene), "frame": _DEPTH_FRAME}
    inside = np.where(holds, depth, np.nan).astype(np.float32)
    _write_floats(folder / "depth.exr", inside[..., None], said, ["Z"])
    low, high = (depth[holds].min(), depth[holds].max()) if holds.any() else (0.0, 0.0)
    step = float(high - low) / (_TOP - 1) or 1.0
    levels = np.round((np.where(holds, depth, low) - low) / step) + 1
    coding = {
        "offset": repr(float(low)),
        "step": repr(step),
        "formula": "depth = offset + (value - 1) * step; value 0 is outside",
    }
    _write_integers(folder / "depth.png", levels, holds, said | coding)


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
    holds = scene.mask & np.isfinite(scene.normals).all(axis=-1)
    field = np.where(holds[..., None], scene.normals, 0) * _AXES[convention]
    said = {"convention": convention, "frame": _FRAMES[convention]}
    _write_floats(folder / "normals.exr", field.astype(np.float32), said)
    coding = {"formula": "normal = value / 65535 * 2 - 1; black is outside"}
    levels = np.clip(np.round((field + 1) / 2 * _TOP), 1, _TOP)
    _write_integers(folder / "normals.png", levels, holds, said | coding)


def write_albedo(folder: Path, scene: Reconstruction) -> None:
    """Write linear `albedo.exr` and, if grey or RGB, `albedo.png` (16 bit); black outside."""
    if scene.albedo is None:
        return
    holds = scene.mask & np.isfinite(scene.albedo).all(axis=-1)
    albedo = np.where(holds[..., None], scene.albedo, 0)
    said = {"transfer": "linear"}
    _write_floats(folder / "albedo.exr", albedo.astype(np.float32), said)
    if albedo.shape[2] not in (1, 3):
        return
    scale = max(1.0, float(albedo.max()))
    coding = {
        "scale": repr(scale),
        "formula": "albedo = value / 65535 * scale, linear, not sRGB",
        "oiio:ColorSpace": "lin_rec709_scene",
    }
    levels = np.round(np.clip(albedo / scale, 0, 1) * _TOP)
    _write_integers(folder / "albedo.png", levels, holds, said | coding)


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
    levels = np.round(np.clip(np.where(mask & np.isfinite(shares), shares, 0), 0, 1) * 255)
    said = {"formula": formula, "oiio:ColorSpace": "data"}
    write_image(path, levels[..., None].astype(np.uint8), said)


def _write_floats(
    path: Path,
    pixels: Shaped[np.ndarray, "H W C"],
    said: Mapping[str, str],
    channel_names: Sequence[str] | None = None,
) -> None:
    """Write an EXR; without a date, so that the same values give the same bytes."""
    words = {PREFIX + keyword: text for keyword, text in said.items()}
    write_image(path, pixels, {"DateTime": "", **words}, channel_names)


def _write_integers(
    path: Path,
    levels: Shaped[np.ndarray, "H W *C"],
    holds: Bool[np.ndarray, "H W"],
    said: Mapping[str, str],
) -> None:
    pixels = levels.reshape(*holds.shape, -1)
    pixels = np.where(holds[..., None], pixels, 0).astype(np.uint16)
    write_image(path, pixels, {"oiio:ColorSpace": "data", **said})
