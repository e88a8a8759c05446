import numpy as np
import pytest
from report.stories import ball_scene

from anylight.geometry.camera import Orthographic
from anylight.report.relief import relief
from anylight.report.window import object_window, reduced

CORNERS = {2: (0, 2, 1), 4: (1, 2, 3), 8: (0, 2, 3), 16: (0, 3, 1)}


def unpacked(mesh):
    """Points and triangles, the way the viewer reads them."""
    points = mesh.positions / 65535 * mesh.size + mesh.origin
    numbers = np.cumsum(mesh.cells.ravel() & 1).reshape(mesh.cells.shape) - 1
    faces = []
    for row, column in zip(*np.nonzero(mesh.cells > 1), strict=True):
        square = numbers[row : row + 2, column : column + 2].ravel()
        faces += [
            square[list(corners)]
            for bit, corners in CORNERS.items()
            if mesh.cells[row, column] & bit
        ]
    return points, np.array(faces)


def mesh_of(scene, vertices):
    window = object_window(scene.mask)
    return relief(scene.camera, scene.depth, scene.normals, window, vertices), window


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("vertices", [100_000, 700])
def test_vertices_are_points_of_the_surface(parallel, vertices):
    scene = ball_scene(parallel=parallel)
    mesh, window = mesh_of(scene, vertices)
    assert len(mesh.positions) <= vertices
    points, _ = unpacked(mesh)
    columns, rows = mesh.pixels.T + np.array([[window.left], [window.top]])
    assert scene.mask[rows, columns].all()
    exact = scene.camera.points(
        columns.astype(float), rows.astype(float), scene.depth[rows, columns]
    )
    # half a step of sixteen bits along each axis
    assert (np.abs(points - exact * [1, -1, -1]) <= 0.51 * mesh.size / 65535).all()


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("vertices", [100_000, 700])
def test_triangles_face_the_front_and_never_span_the_jump(parallel, vertices):
    scene = ball_scene(parallel=parallel)
    points, faces = unpacked(mesh_of(scene, vertices)[0])
    a, b, c = points[faces].transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    on_ball = points[faces][..., 2] > points[:, 2].min() + 9
    assert (on_ball.all(axis=1) | ~on_ball.any(axis=1)).all()
    assert on_ball.all(axis=1).any()
    assert (~on_ball.any(axis=1)).any()


def test_a_steep_smooth_slope_is_not_cut():
    height, width, slope = 30, 40, 20.0
    depth = np.tile(slope * np.arange(width), (height, 1)).astype(float)
    normal = np.array([slope, 0, -1]) / np.hypot(slope, 1)
    normals = np.broadcast_to(normal, (height, width, 3))
    mask = np.ones((height, width), bool)
    mesh = relief(Orthographic((0.0, 0.0)), depth, normals, object_window(mask), 10_000)
    assert (mesh.cells[:-1, :-1] == 1 + 2 + 4).all()


def test_a_missing_corner_costs_half_a_cell_only():
    depth = np.zeros((3, 3))
    depth[2, 2] = np.nan
    normals = np.broadcast_to([0.0, 0.0, -1.0], (3, 3, 3))
    window = object_window(np.ones((3, 3), bool))
    mesh = relief(Orthographic((0.0, 0.0)), depth, normals, window, 100)
    assert mesh.cells.tolist() == [[7, 7, 1], [7, 3, 1], [1, 1, 0]]


def test_a_stray_point_does_not_shrink_the_rest():
    scene = ball_scene()
    sound, _ = mesh_of(scene, 100_000)
    scene.depth[30, 40] *= 1e6
    scene.depth[20, 40] = 1e-9
    strayed, _ = mesh_of(scene, 100_000)
    np.testing.assert_allclose(strayed.size, sound.size, rtol=0.02)


def test_nothing_to_draw():
    normals = np.broadcast_to([0.0, 0.0, -1.0], (3, 3, 3))
    window = object_window(np.ones((3, 3), bool))
    assert relief(Orthographic((0.0, 0.0)), np.full((3, 3), np.nan), normals, window, 9) is None


def test_reduced_takes_masked_pixels_only(rng):
    image = rng.uniform(size=(7, 5, 2))
    mask = rng.uniform(size=(7, 5)) < 0.5
    means, held = reduced(np.where(mask[..., None], image, np.nan), mask, 3)
    assert means.shape == (3, 2, 2)
    for row, column in np.ndindex(3, 2):
        block = np.s_[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
        inside = image[block][mask[block]]
        assert held[row, column] == bool(len(inside))
        if len(inside):
            np.testing.assert_allclose(means[row, column], inside.mean(axis=0))
