"""`anylight mix`: one-light photos into photos under general light."""

from dataclasses import dataclass
from pathlib import Path

import rich.console
import tyro

from anylight.benchmark.mixing import mix, true_normals
from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.io.archive import TRUTH_NAMES, load_reconstruction, save_reconstruction
from anylight.io.capture import save_capture
from anylight.io.folder import Owned, check_output, staged_folder

from .progress import say, shown_progress

OWNED = Owned(
    marker="capture.toml",
    patterns=("mix_*.png", "mix_*.tif", "mask.png", "K.txt", "capture.toml", "truth.npz"),
)


@dataclass(frozen=True, kw_only=True)
class Mix:
    """Mix the one-light photos of a calibrated set (DiLiGenT) into photos under general light.

    Light adds, so do linear photographs: real pixels, light that nobody knows. Known normals come
    along as truth.npz.
    Try: anylight mix catPNG --out cat_mixed --images 20
    """

    capture: tyro.conf.Positional[Path]
    """Folder of one-light photos, linear."""
    out: Path
    """Folder to write; it must be new, empty, or from an earlier mix."""
    images: int = 20
    """Number of mixtures."""
    seed: int = 0
    """Of the random mixtures."""

    def run(self, console: rich.console.Console) -> None:
        """Read, mix, write."""
        if self.images < 3:
            raise InvalidInputError("--images must be 3 or more.")
        check_output(self.out, OWNED)
        with shown_progress(console) as report:
            intake = load(self.capture, None, report)
        mixed = mix(intake.capture, self.images, self.seed)
        truth = true_normals(self.capture)
        for name in TRUTH_NAMES:
            if truth is None and (self.capture / name).is_file():
                truth = load_reconstruction(self.capture / name)
        with staged_folder(self.out, OWNED) as stage:
            save_capture(stage, mixed)
            if truth is not None:
                save_reconstruction(stage / "truth.npz", truth)
        known = "with known normals" if truth is not None else "without known normals"
        say(
            console,
            f"{self.images} mixtures of {intake.capture.num_photos} photos, {known}: {self.out}",
        )
