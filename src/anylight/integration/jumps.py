"""Depth of every pixel from the normals of single pixels, with steps where the normals want them.

A pixel's slope should hold towards the next and the previous pixel, but may give way on one side:
the side that fits worse loses its weight (bilateral normal integration, after Cao, Santo, Shi,
Okura and Matsushita, 2022). So every pixel keeps to the surface it belongs to, and depth jumps
between two pixels, not inside one.
"""

import numpy as np
from jaxtyping import Float

from anylight.geometry.camera import Camera, Perspective
from anylight.geometry.domain import Domain
from anylight.kernels import bilateral
from anylight.linalg import memory, stencil
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid, Stencil
from anylight.linalg.pcg import pcg

_STEEPEST_DEG = 87.0
"""Normals that lean further from the viewing ray are brought back to this. [degrees]"""
_SHARPNESS = 2.0
"""How decidedly a side that fits worse (in squared pixels of depth) loses its weight.
[per squared pixel]"""
_ROUNDS = 12
"""Rounds of weighing the sides. [rounds]"""
_ANCHOR = 1e-7
"""What holds the free constant of the heights, relative to the largest weight. (guard)"""
_SURE = 30.0
"""Exponent beyond which a side has all the weight, or none. (guard)"""
_REACH = 100.0
"""Over this many pixels a slope error of one pixel weighs as much as a known depth off by one.
[pixels]"""
_RTOL = 1e-3
"""When conjugate gradients stop in every round. (guard)"""
_LINEAR_STEPS = 30
"""Steps of conjugate gradients in every round, at most. (guard)"""


def step_heights(
    camera: Camera,
    domain: Domain,
    unit: Float[np.ndarray, "3 P"],
    known: tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]] | None = None,
) -> Float[np.ndarray, " P"]:
    """Log-depth (orthographic: depth) of every pixel.

    Args:
        camera: of the photos.
        domain: the pixels.
        unit: their normals.
        known: heights from elsewhere, and how much each counts (0 to 1).
    """
    grid = Grid(domain.mask)
    inside, width = grid.inside.ravel(), grid.shape[1]
    focal = camera.focal_px if isinstance(camera, Perspective) else (1.0, 1.0)
    wanted, strengths = (memory.filled((2, len(inside)), np.float32) for _ in range(2))
    bilateral.wish(
        np.ascontiguousarray(unit, np.float32), camera.numbers, domain.pixels, grid.places,
        np.deg2rad(_STEEPEST_DEG), wanted, strengths,
    )  # fmt: skip
    hold = _ANCHOR * float(strengths[0].max())
    height, size = np.zeros(len(inside)), None
    right, down, to_right, to_down, centre, source, none = memory.filled(
        (7, len(inside)), np.float32
    )
    nothing, room = none.reshape(grid.shape), memory.Room()
    held = None
    if known is not None:
        firm = (focal[0] / _REACH) ** 2
        held = (grid.spread(known[0]).ravel(), grid.spread(firm * known[1]).ravel())
    for k in range(_ROUNDS):
        for slope, strength, step, coupling, lack in (
            (wanted[0], strengths[0], 1, right, to_right),
            (wanted[1], strengths[1], width, down, to_down),
        ):
            bilateral.weigh(
                height, slope, strength, inside, step, _SHARPNESS, _SURE, k == 0, coupling, lack
            )
        bilateral.gather(
            np.float32(hold), inside, width, right, down, to_right, to_down, centre, source
        )
        if held is not None:
            centre += held[1]
            source += held[1] * (held[0] - height)
        own, to_next, to_below, left = (
            part.reshape(grid.shape) for part in (centre, right, down, source)
        )
        operator = Stencil(own, to_next, to_below, nothing, nothing)
        size = float(np.sqrt(stencil.dot(left, left))) if size is None else size
        room.again()
        change = pcg(
            operator, left, Multigrid(operator, room), _RTOL, _LINEAR_STEPS, against=size, room=room
        )
        memory.add(change.solution.ravel(), height)
    return grid.collect(height.reshape(grid.shape))
