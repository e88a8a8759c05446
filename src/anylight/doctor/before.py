"""Before a run: what the photos are, what is wrong with them, what the run will need."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from anylight.intake.forecast import (
    SECONDS_AT_LEAST,
    SECONDS_PER_PIXEL,
    SHADOW_SECONDS,
    SHADOW_SECONDS_PER_PIXEL,
    bytes_in_all,
)
from anylight.intake.load import Intake
from anylight.intake.shifts import Shifts, find_shifts
from anylight.intake.stack import silent
from anylight.model.finding import Finding, worst_first
from anylight.model.orders import orders_for
from anylight.model.samples import is_saturated

from .assumptions import about_camera, about_coding, about_mask, about_photos
from .exposure import about_clipping
from .lights import about_lights, independent_lights
from .movement import about_movement
from .places import samples_of, window_of
from .sharpness import about_sharpness


@dataclass(frozen=True, eq=False)
class Examination:
    """What was measured on a capture, and what to make of it."""

    findings: tuple[Finding, ...]
    clipped: Float[np.ndarray, " M"]
    """Share of saturated samples on the object, per photo."""
    black: Float[np.ndarray, " M"]
    shifts: Shifts
    strengths: Float[np.ndarray, " M"]
    """Singular values of the photos on the object, paint divided out, the largest one."""
    independent: int
    """Combinations of the photos above the noise."""
    order: int
    """Order of the harmonics that a run will use: what so many photos support."""
    bytes_needed: int
    seconds_needed: float

    def record(self, intake: Intake) -> dict[str, object]:
        """Everything as plain values, for `--json`."""
        capture = intake.capture
        return {
            **intake.record(),
            "photos": [
                {
                    "name": name,
                    "clipped": round(float(clipped), 5),
                    "black": round(float(black), 5),
                    "shift_px": [round(float(x), 3) for x in offset],
                    "shift_sureness": round(float(sure), 2),
                }
                for name, clipped, black, offset, sure in zip(
                    capture.names or map(str, range(capture.num_photos)),
                    self.clipped,
                    self.black,
                    self.shifts.offsets,
                    self.shifts.sureness,
                    strict=True,
                )
            ],
            "size": [capture.mask.shape[1], capture.mask.shape[0]],
            "channels": capture.num_channels,
            "pixels": int(capture.mask.sum()),
            "K": capture.camera.matrix.tolist(),
            "singular_values": [round(float(x), 6) for x in self.strengths],
            "independent_lights": self.independent,
            "order": self.order,
            "bytes_needed": self.bytes_needed,
            "seconds_needed": round(self.seconds_needed, 1),
            "findings": list(self.findings),
        }


def examine(intake: Intake, progress: Callable[[str, float], None] | None = None) -> Examination:
    """Measure a capture and say what was found, problems first."""
    capture = intake.capture
    tell = progress or silent
    samples = samples_of(capture)
    clipped = is_saturated(samples).mean(axis=(1, 2))
    black = (samples <= 0).mean(axis=(1, 2))
    strengths, independent = independent_lights(samples)
    tell("examine", 0.4)
    shifts = find_shifts(window_of(capture))
    tell("examine", 1.0)
    pixels = int(capture.mask.sum())
    order = orders_for(capture.num_photos)[-1]
    bytes_needed = bytes_in_all(capture.photos.nbytes, pixels)
    seconds = max(SECONDS_PER_PIXEL * pixels, SECONDS_AT_LEAST)
    shadows = SHADOW_SECONDS + SHADOW_SECONDS_PER_PIXEL * pixels
    findings = [
        *about_photos(intake),
        *about_coding(intake),
        *about_clipping(capture, clipped, black, samples),
        *about_movement(capture, shifts),
        *about_sharpness(capture),
        *about_lights(capture.num_photos, independent),
        *about_camera(intake),
        *about_mask(intake),
        Finding(
            "note",
            "forecast",
            f"{pixels:,}".replace(",", " ")
            + f" pixels on the object: about {bytes_needed / 2**30:.1f} GiB of memory and "
            f"{_duration(seconds)} on two cores, {_duration(shadows)} more if it shadows itself.",
            "Use --downscale 2 for a quick look." if seconds > 120 else "",
        ),
    ]
    return Examination(
        worst_first(findings),
        clipped,
        black,
        shifts,
        strengths,
        independent,
        order,
        bytes_needed,
        seconds,
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
