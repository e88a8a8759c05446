"""What a method has so far, as a scene that can be shown while it runs."""

from typing import Any

import numpy as np

from anylight.arrays import Mask
from anylight.facets.grid import FacetGrid
from anylight.facets.resolution import block_of
from anylight.geometry.camera import Orthographic
from anylight.joint.step.newton import Iterate
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.paper.state import State

_LEVELS = 12


def glimpse(capture: Capture, state: Any) -> Reconstruction | None:
    """The surface and paint of a state; None if it has none that can be shown."""
    if isinstance(state, State):
        return _published(capture, state)
    if isinstance(state, Iterate):
        return _default(capture, state)
    return None


def _published(capture: Capture, state: State) -> Reconstruction:
    domain = capture.domain()
    albedo = np.maximum(state.albedo.astype(float), 0)
    return Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(state.depth),
        albedo=domain.scatter(albedo.T.copy()),
    )


def _default(capture: Capture, state: Iterate) -> Reconstruction | None:
    """The default works on one resolution after another: find the one that the surface fits."""
    level = FacetGrid(np.array(capture.mask), capture.camera)
    for _ in range(_LEVELS):
        if level.grid.shape == state.surface.shape and level.size == len(state.fit.albedo):
            break
        if min(level.mask.shape) < 4:
            return None
        level = FacetGrid(_halved(level.mask), level.camera.resized(0.5))
    else:
        return None
    height = level.at_pixels(state.surface)
    if not isinstance(level.camera, Orthographic):
        height = np.exp(height - height.mean())
    albedo = np.maximum(np.asarray(state.fit.albedo, float), 0)
    return Reconstruction(
        mask=level.mask,
        camera=level.camera,
        depth=level.domain.scatter(height.astype(float)),
        normals=level.domain.scatter(state.fit.unit.T.astype(float)),
        albedo=level.domain.scatter(albedo),
    )


def _halved(mask: Mask) -> Mask:
    height, width = ((side + 1) // 2 for side in mask.shape)
    small = np.zeros(height * width, bool)
    small[block_of(mask)[0]] = True
    return small.reshape(height, width)
