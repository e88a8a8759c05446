"""Mo et al. (CVPR 2018), our reconstruction: patches under their own directional light.

Neither paper nor code was at hand: this realises what their abstracts (and that of Guo et al. 2021)
say. Every small patch is solved up to an orthogonal matrix; overlaps bring all patches into one
frame; integrability turns it; the surface that bulges to the camera is taken. Angles inside a patch
come out too small under light from all sides, so that shapes are flattened.
"""

import msgspec
import numpy as np

from anylight.errors import InvalidInputError
from anylight.geometry.domain import Domain
from anylight.model.capture import Capture

from .branches import bulge, inpainted
from .estimate import Estimate
from .factorisation import gray_photos
from .favaro2012 import check_size
from .orientation import branches
from .patches import Windows, solved_patches
from .twins import profile_features
from .unification import unified

_LOW_COVERAGE = 0.5


class MoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The reconstruction's numbers."""

    window_px: int = 11
    """Side of a patch; odd."""
    stride_px: int = 5
    """From one patch to the next."""
    least_pixels: int = 40
    """Pixels that a patch must have."""
    one_albedo: bool = True
    """Keep only pixels of one albedo in a patch."""
    profiles: bool = True
    """Connect patches that do not overlap by pixels that all photos treat alike."""
    rounds: int = 6
    """Rounds of reweighting after the patches have been brought together."""

    def __post_init__(self) -> None:
        if self.window_px < 5 or self.window_px % 2 == 0:
            raise InvalidInputError("window_px must be odd and at least 5.")
        if not 1 <= self.stride_px < self.window_px:
            raise InvalidInputError("stride_px must be at least 1 and less than window_px.")
        if self.least_pixels < 10:
            raise InvalidInputError("least_pixels must be at least 10.")
        if self.rounds < 0:
            raise InvalidInputError("rounds must not be negative.")


def mo2018(capture: Capture, options: MoOptions = MoOptions()) -> Estimate:  # noqa: B008
    """Normals only; where no patch reaches, those of the nearest pixel that has one."""
    domain = capture.domain()
    check_size("mo2018", capture.num_photos, domain.size)
    photos = gray_photos(capture)
    radiance = capture.radiance()
    windows = Windows(options.window_px, options.stride_px, options.least_pixels)
    patches = solved_patches(domain, photos, radiance if options.one_albedo else None, windows)
    together = unified(
        patches,
        domain.size,
        options.rounds,
        profile_features(radiance) if options.profiles else None,
    )
    coverage = float(together.is_known.mean())
    diagnostics = {
        "patches": patches.count,
        "patches_connected": together.patches,
        "rejected": patches.rejected,
        "coverage": coverage,
        "eigenvalues": list(together.eigenvalues),
    }
    if not together.is_known.any():
        return Estimate(
            normals=inpainted(domain, together.normals, together.is_known),
            diagnostics=diagnostics | {"singular_value_pair": [0.0, 0.0], "cost": 0.0},
            warnings=("no patch could be solved: the normals all face the camera.",),
        )
    loose = inpainted(domain, together.normals, together.is_known)
    known = Domain(domain.scatter(together.is_known, fill=False))
    start, *both = branches(capture.camera, known, together.normals[together.is_known])
    found = [loose @ branch.matrix.T for branch in both]
    heights = [bulge(capture.camera, domain, normals) for normals in found]
    taken = int(np.argmax(heights))
    return Estimate(
        normals=found[taken],
        diagnostics=diagnostics
        | {
            "singular_value_pair": list(start.singular_values),
            "cost": both[taken].cost,
            "branch": taken,
            "bulges": heights,
        },
        warnings=()
        if coverage >= _LOW_COVERAGE
        else (f"patches cover only {100 * coverage:.0f} % of the object.",),
    )
