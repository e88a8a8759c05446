import numpy as np
import pytest
import trimesh

from anylight.synth.subdivision import subdivide


def test_a_closed_mesh_stays_closed_and_gets_smoother():
    mesh = trimesh.creation.icosphere(subdivisions=1)
    vertices, faces = subdivide(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    vertices, faces = subdivide(vertices, faces)
    fine = trimesh.Trimesh(vertices, faces, process=False)
    assert fine.is_watertight
    assert fine.is_winding_consistent
    assert len(faces) == 16 * len(mesh.faces)
    radius = np.linalg.norm(vertices, axis=1)
    assert np.ptp(radius) < 0.01
    assert fine.face_adjacency_angles.max() < mesh.face_adjacency_angles.max() / 3


def grid(size):
    v, u = np.mgrid[:size, :size]
    corner = (v[:-1, :-1] * size + u[:-1, :-1]).ravel()
    faces = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + size], -1),
            np.stack([corner + 1, corner + size + 1, corner + size], -1),
        ]
    )
    points = np.stack([u.ravel(), v.ravel(), 0 * u.ravel()], -1).astype(float)
    return points, faces


def test_an_open_plane_stays_the_plane_within_its_border():
    # trimesh's subdivision throws some border vertices away; ours must not.
    points, faces = grid(6)
    keep = np.ones(len(faces), bool)
    keep[[0, 7, 20, 21, 22]] = False  # ragged border and a hole
    fine, fine_faces = subdivide(points, faces[keep])
    used = fine[np.unique(fine_faces)]
    assert np.allclose(used[:, 2], 0)
    assert used[:, :2].min() >= 0
    assert used[:, :2].max() <= 5
    edges = np.linalg.norm(np.diff(fine[fine_faces], axis=1), axis=-1)
    assert edges.max() < 1.2


def test_an_edge_with_three_faces_is_a_crease():
    points = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0], [0.5, 0, 1.0]])
    faces = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    fine, fine_faces = subdivide(points, faces)
    assert np.isfinite(fine).all()
    assert any(np.allclose(vertex, [0.5, 0, 0]) for vertex in fine)
    assert len(fine_faces) == 12


@pytest.mark.parametrize("times", [1, 2])
def test_constants_are_kept(times):
    mesh = trimesh.creation.box()
    vertices, faces = np.asarray(mesh.vertices) + 7.0, np.asarray(mesh.faces)
    for _ in range(times):
        vertices, faces = subdivide(vertices, faces)
    assert np.allclose(vertices.mean(0), 7.0)
    assert np.abs(vertices - 7.0).max() <= 0.5
