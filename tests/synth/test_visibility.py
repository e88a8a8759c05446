"""Cast shadows against the sky that is visible from inside a spherical pit.

From any point of a sphere, every patch of the same sphere is seen under a form factor equal to its
share of the sphere's area. Seen from inside a pit, the open sky is the missing cap, so uniform
light of radiance one gives π · (area of the cap) / (area of the sphere) everywhere in the pit.
"""

import numpy as np
import pytest
import trimesh

from anylight.geometry.camera import Orthographic, kind_of
from anylight.geometry.domain import Domain
from anylight.photometry.environment import irradiance
from anylight.synth.lights import HEIGHT
from anylight.synth.mesh import MeshSurface
from anylight.synth.shapes import PIT_RADIUS, PIT_RISE, embedded_shape
from anylight.synth.view import frame_object
from anylight.synth.visibility import Horizon, cell_directions, to_texels

SKY = np.ones((1, HEIGHT, 2 * HEIGHT, 1))
OPEN = (1 + PIT_RISE / PIT_RADIUS) / 2
"""Share of the sphere above the plate."""


def seen_pit(focal):
    surface, size = embedded_shape("pit"), 96
    view = frame_object(surface, size, size, focal)
    rows, columns = np.mgrid[:size, :size]
    hits = view.trace(surface, np.stack([columns.ravel(), rows.ravel()], -1).astype(float))
    depth = hits.points[:, 2].reshape(size, size)
    domain = Domain(np.isfinite(depth))
    normals = domain.gather(hits.normals.reshape(size, size, 3))
    local = view.to_object(hits.points[domain.mask.ravel()])
    in_pit = np.linalg.norm(local - [0, 0, PIT_RISE], axis=1) < PIT_RADIUS + 1e-6
    far = np.abs(local[:, :2]).max(axis=1)
    return view, domain, depth, normals, local, in_pit, far


def check(shade, normals, in_pit, far, on_plate):
    inside = shade[in_pit] / np.pi
    assert inside.mean() == pytest.approx(OPEN, rel=0.02)
    assert inside.std() < 0.04
    # Far from the pit, the plate sees the whole sky.
    open_plate = on_plate & (far < 0.9)
    assert shade[open_plate].mean() == pytest.approx(np.pi, rel=0.01)
    # Without shadows, the walls would be brighter by far.
    unshadowed = irradiance(SKY, normals[in_pit])[0, 0]
    assert unshadowed.mean() == pytest.approx(np.pi, rel=0.01)


@pytest.mark.twin(
    "synth.horizon._sines",
    "synth.horizon._is_under",
    "synth.horizon._bilinear",
    "synth.horizon._point",
    "synth.horizon._towards_camera",
)
@pytest.mark.parametrize("focal", [1.3, None])
def test_horizon_in_a_pit(focal):
    view, domain, depth, normals, _, in_pit, far = seen_pit(focal)
    horizon = Horizon(view.camera, depth, domain)
    visible = ~horizon.is_blocked(slice(None), cell_directions(HEIGHT))
    shade = irradiance(SKY, normals, to_texels(visible, HEIGHT))[0, 0]
    assert kind_of(view.camera) == ("orthographic" if focal is None else "perspective")
    check(shade, normals, in_pit, far, ~in_pit & (normals[:, 2] < -0.999))


def pit_mesh(size=241):
    """The pit as a height field with triangles."""
    grid = np.linspace(-0.95, 0.95, size)
    x, y = np.meshgrid(grid, grid)
    below = PIT_RISE - np.sqrt(np.maximum(PIT_RADIUS**2 - x**2 - y**2, 0))
    z = np.where(x**2 + y**2 < PIT_RADIUS**2 - PIT_RISE**2, np.minimum(below, 0), 0)
    corner = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).ravel()
    faces = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + size], -1),
            np.stack([corner + 1, corner + size + 1, corner + size], -1),
        ]
    )
    return trimesh.Trimesh(np.stack([x, y, z], -1).reshape(-1, 3), faces, process=False)


def test_traced_mesh_in_a_pit():
    pytest.importorskip("embreex")
    surface = MeshSurface(pit_mesh())
    rng = np.random.default_rng(3)
    across = rng.uniform(-0.9, 0.9, (3000, 2))
    rim = np.sqrt(PIT_RADIUS**2 - PIT_RISE**2)
    radius = np.linalg.norm(across, axis=1)
    across = across[np.abs(radius - rim) > 0.03]
    in_pit = np.linalg.norm(across, axis=1) < rim
    origins = np.column_stack([across, np.full(len(across), 2.0)])
    hits = surface.trace(origins, np.broadcast_to([0.0, 0.0, -1.0], origins.shape))
    flip = np.array([1.0, -1.0, -1.0])
    directions = cell_directions(HEIGHT)
    blocked = surface.is_blocked(hits.points, hits.normals, directions * flip)
    normals = hits.normals * flip
    shade = irradiance(SKY, normals, to_texels(~blocked, HEIGHT))[0, 0]
    check(shade, normals, in_pit, np.abs(across).max(axis=1), ~in_pit)


def test_a_convex_shape_casts_no_shadow_on_itself():
    surface, size = embedded_shape("sphere"), 80
    view = frame_object(surface, size, size, 1.3)
    rows, columns = np.mgrid[:size, :size]
    hits = view.trace(surface, np.stack([columns.ravel(), rows.ravel()], -1).astype(float))
    depth = hits.points[:, 2].reshape(size, size)
    domain = Domain(np.isfinite(depth))
    normals = domain.gather(hits.normals.reshape(size, size, 3))
    directions = cell_directions(HEIGHT)
    blocked = Horizon(view.camera, depth, domain).is_blocked(slice(None), directions)
    lit = normals @ directions.T > 0.05
    assert blocked[lit].mean() < 1e-3
    assert not isinstance(view.camera, Orthographic)
