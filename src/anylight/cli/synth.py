"""`anylight synth`: render a capture whose answer is known."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import rich.console

from anylight.io.archive import save_reconstruction
from anylight.io.capture import save_capture
from anylight.io.folder import Owned, check_output, staged_folder
from anylight.io.images import write_image
from anylight.pictures import contact_sheet, radiance_picture, scene_pictures, shrink
from anylight.synth.options import SynthOptions
from anylight.synth.pathtrace import ACCEPTABLE_NOISE
from anylight.synth.render import Rendering, render

from .progress import say, shown_progress

OWNED = Owned(
    marker="truth.npz",
    patterns=("photo_*.png", "mask.png", "K.txt", "capture.toml", "truth.npz", "preview/*.png"),
)
_THUMBNAIL = 240


@dataclass(frozen=True, kw_only=True)
class Synth:
    """Render a capture with a known answer.

    Writes linear PNG photos, mask.png, K.txt, capture.toml, truth.npz and a preview folder.
    The same arguments give the same bytes.
    Try: anylight synth --shape vase --albedo bars --out vase
    """

    out: Path
    """Folder to write; it must be new, empty, or from an earlier synth."""
    rendering: SynthOptions = field(default_factory=SynthOptions)

    def run(self, console: rich.console.Console) -> None:
        """Render and write."""
        check_output(self.out, OWNED)
        with shown_progress(console) as report:
            rendering = render(self.rendering, report)
        with shown_progress(console) as report, staged_folder(self.out, OWNED) as stage:
            save_capture(stage, rendering.capture, lambda done, of: report("write", done / of))
            save_reconstruction(stage / "truth.npz", rendering.truth)
            (stage / "preview").mkdir()
            write_image(stage / "preview" / "photos.png", _photo_sheet(rendering))
            write_image(stage / "preview" / "truth.png", _truth_sheet(rendering))
        if rendering.noise > ACCEPTABLE_NOISE:
            words = f"the path tracer's noise is up to {100 * rendering.noise:.1f} % of the mean"
            say(console, f"warning: {words}.", style="yellow")
        height, width = rendering.capture.mask.shape
        say(
            console,
            f"{rendering.capture.num_photos} photos of {width}×{height} pixels, "
            f"{np.count_nonzero(rendering.capture.mask)} on the object: {self.out}",
        )


def _photo_sheet(rendering: Rendering) -> np.ndarray:
    capture = rendering.capture
    pictures = [
        shrink(radiance_picture(photo / capture.full_scale), _THUMBNAIL) for photo in capture.photos
    ]
    return contact_sheet(pictures, columns=min(5, len(pictures)))


def _truth_sheet(rendering: Rendering) -> np.ndarray:
    pictures = scene_pictures(rendering.truth).values()
    return contact_sheet([shrink(picture, 2 * _THUMBNAIL) for picture in pictures], columns=4)
