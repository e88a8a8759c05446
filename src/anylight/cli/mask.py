"""`anylight mask`: make or check the mask of a capture."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import rich.console
import tyro

from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.folder import Owned, check_output, staged_folder
from anylight.io.images import write_image
from anylight.runs.folder import mask_preview
from anylight.runs.place import named_after

from .progress import say, shown_progress
from .words import quoted

OWNED = Owned(marker="mask.png", patterns=("mask.png", "preview.png"))


@dataclass(frozen=True, kw_only=True)
class Mask:
    """Make the mask that a run would use, and a picture to check it by.

    Without --mask, and without mask.png in the folder, it is made from the photos: what varies with
    the light and differs from its surroundings. Correct mask.png in any paint program.
    Try: anylight mask photos/ --out photos_mask
    """

    capture: tyro.conf.Positional[Path]
    """Folder of photos, or a .mat, .npz or .lp file (docs/formats.md)."""
    out: Path | None = None
    """Folder to write mask.png and preview.png into; NAME_mask here if not given."""
    intake: IntakeOptions = field(default_factory=IntakeOptions)

    def run(self, console: rich.console.Console) -> None:
        """Read, mask, write."""
        out = self.out or named_after(self.capture, "mask")
        check_output(out, OWNED)
        if (out / "mask.png").exists():
            raise InvalidInputError(
                f"{out / 'mask.png'}: is there already, perhaps corrected by hand; choose another "
                "--out or remove it."
            )
        with shown_progress(console) as report:
            intake = load(self.capture, self.intake, report)
        mask = intake.capture.mask
        with staged_folder(out, OWNED) as stage:
            write_image(stage / "mask.png", np.where(mask, np.uint8(255), np.uint8(0))[..., None])
            write_image(stage / "preview.png", mask_preview(intake))
        use = quoted("anylight", "run", self.capture, "--mask", out / "mask.png")
        say(
            console,
            f"{100 * mask.mean():.1f} % of the frame is object ({intake.mask_source}). Look at "
            f"{out / 'preview.png'}; use it with: {use}",
        )
