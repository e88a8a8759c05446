from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from anylight.export.surface import jumps, surface_mesh
from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.domain import Domain
from anylight.geometry.normals import depth_normals
from anylight.model.reconstruction import Reconstruction

TO_CAMERA = np.array([1.0, -1.0, -1.0])


def flat_scene(depth, camera, mask=None, **fields):
    """A scene whose every pixel has the normal of a plane that faces the camera."""
    mask = np.isfinite(depth) if mask is None else mask
    normals = np.where(mask[..., None], [0.0, 0.0, -1.0], np.nan)
    return Reconstruction(mask=mask, camera=camera, depth=depth, normals=normals, **fields)


def ball(camera, size, radius):
    """A hemisphere with exact normals, every pixel whose ray meets it."""
    v, u = np.mgrid[:size, :size].astype(float)
    rays = camera.rays(u, v)
    if isinstance(camera, Perspective):
        # |t d − c|² = r² with the ball's centre c on the axis
        away = radius / size * camera.focal_px[0] * 2.2
        centre = np.array([0.0, 0.0, away])
        square, along = (rays**2).sum(-1), rays @ centre
        inside = along**2 - square * (away**2 - radius**2)
        depth = (along - np.sqrt(np.maximum(inside, 0))) / square
    else:
        centre = np.array([0.0, 0.0, 2 * radius])
        place = camera.points(u, v, np.zeros_like(u))
        inside = radius**2 - (place[..., :2] ** 2).sum(-1)
        depth = 2 * radius - np.sqrt(np.maximum(inside, 0))
    mask = inside > 0
    normals = (camera.points(u, v, depth) - centre) / radius
    return Reconstruction(
        mask, camera, np.where(mask, depth, np.nan), np.where(mask[..., None], normals, np.nan)
    )


def cameras(size):
    centre = ((size - 1) / 2, (size - 1) / 2)
    return [Perspective((1.3 * size, 1.3 * size), centre), Orthographic(centre)]


@pytest.mark.parametrize("camera", cameras(24))
def test_vertices_are_the_points_behind_the_pixels(vase, camera):
    camera = vase.camera if isinstance(camera, Perspective) else camera
    scene = replace(vase, camera=camera)
    mesh = surface_mesh(scene)
    points = (mesh.vertices + mesh.origin) * TO_CAMERA
    pixels = camera.project(points)
    columns, rows = np.round(pixels).astype(int).T
    assert np.abs(pixels - np.stack([columns, rows], -1)).max() < 1e-3
    assert np.allclose(points[:, 2], scene.depth[rows, columns], rtol=1e-5)
    assert np.allclose(mesh.normals * TO_CAMERA, scene.normals[rows, columns], atol=1e-6)
    assert np.allclose(mesh.vertices.min(0), -mesh.vertices.max(0), atol=1e-4)


def test_faces_turn_counter_clockwise_seen_from_the_camera(vase):
    mesh = surface_mesh(vase)
    a, b, c = np.moveaxis((mesh.vertices + mesh.origin)[mesh.faces].astype(float), 1, 0)
    facing = (np.cross(b - a, c - a) * -(a + b + c)).sum(-1)
    assert (facing > 0).all()
    assert (mesh.normals * -(mesh.vertices + mesh.origin)).sum(-1).min() > -1e-6


def test_colour_at_uv_is_the_colour_of_the_vertex(vase):
    mesh = surface_mesh(vase)
    height, width = mesh.texture.shape[:2]
    columns, rows = (mesh.uv * [width, height] - 0.5).T
    assert np.abs(columns - np.round(columns)).max() < 1e-4
    sampled = mesh.texture[np.round(rows).astype(int), np.round(columns).astype(int)]
    assert np.array_equal(sampled, mesh.colours)


def test_texture_is_cropped_and_has_no_dark_seam(vase):
    dim = replace(vase, albedo=np.where(vase.mask[..., None], [0.5, 0.5, 0.5], np.nan))
    texture = surface_mesh(dim).texture
    assert texture.shape[:2] == tuple(np.ptp(np.argwhere(vase.mask), axis=0) + 1)
    assert (texture == 255).all()


@pytest.mark.parametrize("camera", cameras(24))
def test_a_step_is_cut_exactly_along_it(camera):
    depth = np.full((12, 24), 100.0)
    depth[:, 9:] += 12.0 * (100 / 31.2 if isinstance(camera, Perspective) else 1.0)
    mesh = surface_mesh(flat_scene(depth, camera))
    assert len(mesh.vertices) == depth.size
    assert len(mesh.faces) == 2 * 11 * 22
    columns = camera.project((mesh.vertices + mesh.origin) * TO_CAMERA)[:, 0]
    is_left = np.round(columns) < 9
    assert (is_left[mesh.faces].sum(axis=1) % 3 == 0).all()


@pytest.mark.parametrize("camera", cameras(24))
def test_a_step_is_cut_without_normals_too(camera):
    depth = np.full((12, 24), 100.0) + 0.3 * np.arange(24)
    depth[:, 9:] += 60.0
    scene = replace(flat_scene(depth, camera), normals=None)
    mesh = surface_mesh(scene)
    assert len(mesh.faces) == 2 * 11 * 22
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("size", [41, 160, 400])
@pytest.mark.parametrize("kind", [0, 1])
def test_a_hemisphere_is_not_cut_inside(size, kind):
    camera = cameras(size)[kind]
    scene = ball(camera, size, 0.49 * size)
    along_u, along_v = jumps(camera, scene.depth, Domain(scene.mask), scene.normals)
    rim = scene.mask & ~ndimage.binary_erosion(scene.mask, np.ones((3, 3)))
    assert not (along_u & ~(rim[:, :-1] | rim[:, 1:])).any()
    assert not (along_v & ~(rim[:-1] | rim[1:])).any()
    assert along_u.sum() + along_v.sum() <= 0.01 * scene.mask.sum()
    if size < 100:
        assert not along_u.any()
        assert not along_v.any()


@pytest.mark.parametrize("camera", cameras(32))
def test_a_steep_plane_stays_closed(camera):
    slope = 5.5  # footprints per pixel: 80 degrees
    u = np.arange(32) + np.zeros((8, 1))
    if isinstance(camera, Perspective):
        depth = 50 * np.exp(slope * u / camera.focal_px[0])
    else:
        depth = slope * u
    mask = np.ones(depth.shape, bool)
    normals = depth_normals(camera, depth, mask)
    mesh = surface_mesh(Reconstruction(mask, camera, depth, normals))
    assert len(mesh.faces) == 2 * 7 * 31


def test_noisy_normals_do_not_tear_a_smooth_surface(rng):
    camera = cameras(60)[0]
    scene = ball(camera, 60, 20.0)
    noisy = scene.normals + 0.1 * rng.standard_normal(scene.normals.shape)
    noisy /= np.linalg.norm(noisy, axis=-1, keepdims=True)
    along_u, along_v = jumps(camera, scene.depth, Domain(scene.mask), noisy)
    assert along_u.sum() + along_v.sum() <= 2


def test_three_pixels_make_one_triangle_and_lone_ones_vanish():
    mask = np.zeros((6, 7), bool)
    mask[1, 1] = mask[1, 2] = mask[2, 1] = True
    mask[4, 5] = True
    depth = np.where(mask, 10.0, np.nan)
    for turned in (mask, mask[::-1], mask[:, ::-1], mask[::-1, ::-1]):
        scene = flat_scene(np.where(turned, 10.0, np.nan), Orthographic((3.0, 2.0)))
        mesh = surface_mesh(scene)
        assert len(mesh.faces) == 1
        assert len(mesh.vertices) == 3
        assert np.allclose(mesh.normals, [0, 0, 1])
    alone = flat_scene(np.where(np.arange(7) == 5, depth, np.nan), Orthographic((3.0, 2.0)))
    assert len(surface_mesh(alone).vertices) == 0


def test_one_corner_beyond_a_jump_leaves_one_triangle():
    for far in ((0, 0), (0, 1), (1, 0), (1, 1)):
        depth = np.zeros((2, 2))
        depth[far] = 50.0
        mesh = surface_mesh(flat_scene(depth, Orthographic((0.0, 0.0))))
        assert len(mesh.faces) == 1
        assert np.ptp(mesh.vertices[:, 2]) == 0


def test_the_shorter_diagonal_is_taken():
    depth = np.array([[0.0, 1.0], [1.0, 4.0]])
    scene = Reconstruction(np.ones((2, 2), bool), Orthographic((0.0, 0.0)), depth)
    faces = surface_mesh(scene).faces
    assert sorted(map(sorted, faces.tolist())) == [[0, 1, 2], [1, 2, 3]]
    faces = surface_mesh(replace(scene, depth=depth[:, ::-1].copy())).faces
    assert sorted(map(sorted, faces.tolist())) == [[0, 1, 3], [0, 2, 3]]


def test_missing_normals_come_from_the_triangles():
    camera = cameras(41)[0]
    scene = ball(camera, 41, 18.0)
    holes = scene.normals.copy()
    holes[15:25, 15:25] = np.nan
    mesh, whole = surface_mesh(replace(scene, normals=holes)), surface_mesh(scene)
    assert (mesh.normals * whole.normals).sum(-1).min() > 0.99


@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_any_number_of_channels_gives_a_colour(vase, channels):
    albedo = np.repeat(vase.albedo[..., :1], channels, axis=2)
    mesh = surface_mesh(replace(vase, albedo=albedo, lighting=None))
    assert (mesh.colours == mesh.colours[:, :1]).all()


def test_unit_holds_for_perspective_only(vase):
    assert surface_mesh(replace(vase, unit="mm")).unit == "mm"
    assert surface_mesh(replace(vase, unit=None)).unit is None
    assert surface_mesh(replace(vase, unit="mm", camera=Orthographic((0.0, 0.0)))).unit is None
