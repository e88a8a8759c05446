"""One capture in the studio: its photos, what was chosen, and what came of it.

Everything that matters is in the session's folder, which `anylight run` understands.
"""

import json
import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from anylight.arrays import Mask
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Camera, Orthographic, Perspective, camera_from_matrix
from anylight.intake.intrinsics import FRAME_35MM, guessed_camera
from anylight.io.capture import MATRIX_NAME, NOTES_NAME
from anylight.runs.command import command_words, quoted

from .balloon import Silhouette, silhouette
from .choices import Choices
from .reading import FACTS, MASK, PHOTOS, Facts, write_mask

VIEW = 1600
"""Longest side of a photo on the page. [pixels]"""
_RESULTS = "results"
_SHOWN = ("report.html", "mesh.glb", "mesh.ply", "mesh.obj", "mesh.mtl", "mesh_texture.png",
          "depth.exr", "normals.exr", "albedo.exr", "depth.png", "normals.png", "albedo.png",
          "confidence.png", "openness.png", "lighting.json", "lights.lp", "result.npz",
          "run.json")  # fmt: skip


@dataclass(eq=False)
class Session:
    """A capture that is open."""

    folder: Path
    cache: Path
    facts: Facts
    choices: Choices = field(default_factory=Choices)
    mask_number: int = 1
    mask_source: str = ""
    issued: dict[str, Path] = field(default_factory=dict)
    """Files that may be fetched, by the key that stands for each."""

    def __post_init__(self) -> None:
        self.photos = np.load(self.cache / PHOTOS, mmap_mode="r", allow_pickle=False)
        self.mask: Mask = np.load(self.cache / MASK, allow_pickle=False)
        self.mask_source = self.facts.mask_source
        self.mask_share = float(self.mask.mean())
        self._silhouette: tuple[int, Camera, Silhouette | None] | None = None
        self._keys: dict[Path, str] = {}
        self._inflating = threading.Lock()
        self._mask_written = 0

    @property
    def factor(self) -> int:
        """By how much photos are reduced on the page."""
        return -(-max(self.facts.width, self.facts.height) // VIEW)

    def camera(self) -> Camera:
        """The camera that the choices ask for."""
        shape = (self.facts.height, self.facts.width)
        guess = guessed_camera(shape).camera
        if self.choices.camera == "orthographic":
            assert isinstance(guess, Perspective)
            return Orthographic(guess.centre_px)
        if self.choices.camera == "focal" and self.choices.focal_35mm is not None:
            assert isinstance(guess, Perspective)
            focal = self.choices.focal_35mm / FRAME_35MM * max(shape)
            return Perspective((focal, focal), guess.centre_px)
        if self.choices.camera == "photos":
            return guess
        return camera_from_matrix(self.facts.camera_kind, np.array(self.facts.camera_matrix))

    def inflatable(self) -> Silhouette | None:
        """What the volume slider inflates, for the mask and camera of now."""
        with self._inflating:
            if self._silhouette is None or self.is_other_silhouette():
                camera, number = self.camera(), self.mask_number
                self._silhouette = (number, camera, silhouette(self.mask, camera))
            return self._silhouette[2]

    def is_other_silhouette(self) -> bool:
        """Whether mask or camera have changed since the last balloon."""
        return self._silhouette is None or self._silhouette[:2] != (
            self.mask_number,
            self.camera(),
        )

    def view_mask(self) -> Mask:
        """The mask at the size of the page's photos."""
        return _reduced(self.mask, self.factor)

    def repaint(self, painted: Mask) -> None:
        """Take over what was painted; where nothing changed the mask keeps its full detail."""
        differs = painted != self.view_mask()
        height, width = self.mask.shape
        large = [_enlarged(image, self.factor)[:height, :width] for image in (differs, painted)]
        self.replace_mask(np.where(large[0], large[1], self.mask), "painted by hand")

    def replace_mask(self, mask: Mask, source: str) -> None:
        """Use another mask from now on."""
        self.mask, self.mask_source = mask, source
        self.mask_share = float(mask.mean())
        self.mask_number += 1

    def used(self) -> list[str]:
        """Names of the photos that are switched on."""
        return [name for name in self.facts.names if name not in self.choices.left_out]

    def write(self) -> None:
        """Bring the folder up to date with what was chosen."""
        facts = self.facts
        guess = self.choices.camera == "photos" or not facts.lens_known
        matrix, kind = np.array(facts.camera_matrix), facts.camera_kind
        if self.choices.camera == "photos":
            matrix, kind = guessed_camera((facts.height, facts.width)).camera.matrix, "perspective"
        files = ", ".join(json.dumps(name, ensure_ascii=False) for name in self.used())
        notes = (
            f'transfer = "{facts.coding}"\ncamera = "{kind}"\n'
            + ('lens = "guess"\n' if guess else "")
            + f"files = [{files}]\n"
        )
        rows = "\n".join(" ".join(f"{value:.10g}" for value in row) for row in matrix)
        if self._mask_written != self.mask_number:
            write_mask(self.folder, self.mask)
            self._mask_written = self.mask_number
        _replaced(self.folder / MATRIX_NAME, rows + "\n")
        _replaced(self.folder / NOTES_NAME, notes)
        kept = {"facts": facts, "choices": self.choices, "command": self.command()}
        text = msgspec.json.format(msgspec.json.encode(kept), indent=2).decode()
        _replaced(self.folder / FACTS, text + "\n")

    def command(self) -> str:
        """The line that repeats the next run on a terminal."""
        return quoted(command_words(self.folder, self.next_result(), self.choices.asked()))

    def next_result(self) -> Path:
        """Folder of the next result."""
        taken = [int(path.name) for path in self.results()]
        return self.folder / _RESULTS / f"{max(taken, default=0) + 1:02d}"

    def results(self) -> list[Path]:
        """Folders of the results that are complete."""
        found = (self.folder / _RESULTS).glob("[0-9]*/run.json")
        return sorted(path.parent for path in found if path.parent.name.isdecimal())

    def files(self, result: Path) -> list[dict[str, Any]]:
        """The files of a result that may be fetched, and their keys."""
        listed = []
        for path in (result / name for name in _SHOWN):
            if path.is_file():
                key = self._keys.setdefault(path, secrets.token_hex(12))
                self.issued[key] = path
                listed.append({"name": path.name, "key": key, "bytes": path.stat().st_size})
        return listed


def painted_mask(painted: bytes, shape: tuple[int, ...]) -> Mask:
    """The mask that a page sends, a byte per pixel.

    Raises:
        InvalidInputError: it has another size, or nothing is in it.
    """
    if len(painted) != shape[0] * shape[1]:
        raise InvalidInputError("the painted mask has another size than the photos.")
    mask: Mask = np.frombuffer(painted, np.uint8).reshape(shape) > 0
    if not mask.any():
        raise InvalidInputError("the mask is empty: paint the object.")
    return mask


def _replaced(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _reduced(mask: Mask, factor: int) -> Mask:
    if factor == 1:
        return mask
    padded = np.pad(mask, [(0, -side % factor) for side in mask.shape], mode="edge")
    height, width = (side // factor for side in padded.shape)
    small: Mask = padded.reshape(height, factor, width, factor).mean(axis=(1, 3)) >= 0.5
    return small


def _enlarged(image: Mask, factor: int) -> Mask:
    return image if factor == 1 else image.repeat(factor, axis=0).repeat(factor, axis=1)
