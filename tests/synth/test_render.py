import numpy as np
import pytest
import trimesh

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic
from anylight.geometry.domain import Domain
from anylight.geometry.normals import angles_deg, depth_normals
from anylight.io.images import write_image
from anylight.photometry.environment import irradiance
from anylight.photometry.shading import intensity
from anylight.synth.albedos import ALBEDO_NAMES
from anylight.synth.lights import EMBEDDED_YAW, choose_lights, embedded_lights
from anylight.synth.options import SynthOptions
from anylight.synth.render import EXPOSURE_QUANTILE, render
from anylight.synth.shapes import SHAPE_NAMES, embedded_shape
from anylight.synth.view import FILL, frame_object


def small(**changes):
    return SynthOptions(**{"images": 3, "height": 64, "albedo": "white", **changes})


def analytic_sphere(options):
    """Depth and normals of the unit sphere where the renderer placed it."""
    focal = None if options.orthographic else options.focal
    view = frame_object(embedded_shape("sphere"), options.height, options.height, focal)
    rows, columns = np.mgrid[: options.height, : options.height].astype(float)
    rays = view.camera.rays(columns.ravel(), rows.ravel())
    origins = view.camera.points(columns.ravel(), rows.ravel(), np.zeros(rays.shape[0]))
    offset = view.shift - origins
    along = (offset * rays).sum(1)
    square = (rays**2).sum(1)
    gap = along**2 - square * ((offset**2).sum(1) - view.scale**2)
    with np.errstate(invalid="ignore"):
        distance = (along - np.sqrt(gap)) / square
    points = origins + distance[:, None] * rays
    shape = (options.height, options.height)
    normals = (points - view.shift) / view.scale
    return points[:, 2].reshape(shape), normals.reshape(*shape, 3), view


@pytest.mark.parametrize("orthographic", [False, True])
def test_the_analytic_sphere(orthographic):
    options = small(shape="sphere", orthographic=orthographic)
    rendering = render(options)
    depth, normals, view = analytic_sphere(options)
    truth, mask = rendering.truth, rendering.truth.mask
    assert (mask == np.isfinite(depth)).mean() > 0.999
    both = mask & np.isfinite(depth)
    assert np.allclose(truth.depth[both], depth[both], rtol=1e-9)
    facing = -(normals * view.camera.rays(*np.indices(mask.shape)[::-1].astype(float))).sum(-1)
    clear = both & (facing > 0.01)
    assert angles_deg(truth.normals[clear], normals[clear]).max() < 1e-4
    # shading: the exact integral at the analytic normals, exposed
    rng = np.random.default_rng([options.seed, 0])
    lights = choose_lights(embedded_lights(), options.images, rng, EMBEDDED_YAW)
    shade = irradiance(lights, normals[clear])
    exposed = shade / np.quantile(
        irradiance(lights, truth.normals[mask]), EXPOSURE_QUANTILE, axis=(1, 2), keepdims=True
    )
    photos = np.moveaxis(rendering.capture.photos[:, clear], 2, 1) / 65535
    assert np.abs(photos - np.clip(exposed, 0, 1)).max() < 3e-5  # two steps of 16 bit


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize(("width", "height"), [(64, 64), (120, 64), (40, 90)])
@pytest.mark.parametrize("shape", ["sphere", "vase"])
def test_the_object_fills_92_percent_of_the_tighter_side(shape, width, height, orthographic):
    mask = render(
        small(shape=shape, width=width, height=height, orthographic=orthographic)
    ).truth.mask
    assert mask.shape == (height, width)
    rows, columns = np.nonzero(mask)
    sides = np.array([np.ptp(columns) + 1, np.ptp(rows) + 1])
    assert (sides / [width, height]).max() == pytest.approx(FILL, abs=2.5 / min(width, height))
    centre = np.array([columns.min() + columns.max(), rows.min() + rows.max()]) / 2
    assert np.abs(centre - [(width - 1) / 2, (height - 1) / 2]).max() <= 1


def test_intrinsics_follow_the_focal_option():
    camera = render(small(shape="sphere", focal=2.0)).capture.camera
    assert camera.focal_px == (128.0, 128.0)
    assert camera.centre_px == (31.5, 31.5)


def test_exposure_puts_the_quantile_of_shading_at_white():
    capture = render(small(shape="vase", images=5)).capture
    for photo in capture.photos[:, capture.mask]:
        brightest = np.sort(photo.ravel())
        num_white = np.count_nonzero(brightest == 65535)
        assert abs(num_white - (1 - EXPOSURE_QUANTILE) * photo.size) <= 1
        assert brightest[-num_white - 1] > 0.99 * 65535


@pytest.mark.parametrize("protocol", ["mesh", "depth"])
def test_truth_explains_the_photos(protocol):
    rendering = render(small(shape="drapery", albedo="natural", protocol=protocol, images=6))
    truth, domain = rendering.truth, Domain(rendering.truth.mask)
    model = intensity(domain.gather(truth.albedo).T, truth.lighting, domain.gather(truth.normals))
    photos = rendering.capture.radiance()
    unclipped = photos < 1
    residual = (model - photos)[unclipped]
    assert np.sqrt((residual**2).mean()) < 0.012  # what lies beyond order six, point-like suns


@pytest.mark.parametrize("stencil", ["central", "forward"])
def test_protocol_depth_shades_finite_differences(stencil):
    truth = render(small(shape="medallion", protocol="depth", stencil=stencil)).truth
    expected = depth_normals(truth.camera, truth.depth, truth.mask, stencil)
    assert np.array_equal(truth.normals, expected, equal_nan=True)


def test_protocols_agree_where_the_surface_is_smooth():
    mesh = render(small(shape="sphere", height=200)).truth
    depth = render(small(shape="sphere", height=200, protocol="depth")).truth
    angles = angles_deg(mesh.normals[mesh.mask], depth.normals[mesh.mask])
    assert np.median(angles) < 0.1
    assert np.array_equal(mesh.depth, depth.depth, equal_nan=True)


@pytest.mark.parametrize("albedo", ["white", "pattern"])
def test_supersampling_is_the_mean_of_a_finer_photo(albedo):
    coarse = render(small(shape="drapery", albedo=albedo, supersample=3, height=48)).capture
    fine = render(small(shape="drapery", albedo=albedo, height=144)).capture
    means = (fine.photos / 65535).reshape(3, 48, 3, 48, 3, 3).mean(axis=(2, 4))
    covered = fine.mask.reshape(48, 3, 48, 3).all(axis=(1, 3)) & coarse.mask
    assert covered.sum() > 1000
    # clipping comes before the mean in one, after it in the other: leave clipped pixels out
    clipped = (fine.photos == 65535).any(axis=(0, 3)).reshape(48, 3, 48, 3).any(axis=(1, 3))
    covered &= ~clipped
    a, b = coarse.photos[:, covered] / 65535, means[:, covered]
    exposure = (a * b).sum(axis=(1, 2)) / (b * b).sum(axis=(1, 2))
    assert np.allclose(exposure, 1, atol=0.1)
    assert np.abs(a - exposure[:, None, None] * b).max() < 1e-4


@pytest.mark.parametrize(("bits", "dtype"), [(8, np.uint8), (16, np.uint16)])
def test_bits(bits, dtype):
    assert render(small(bits=bits)).capture.photos.dtype == dtype


def test_noise_has_its_standard_deviation():
    clean, noisy = (render(small(shape="sphere", noise=n, height=128)) for n in (0.0, 0.02))
    middle = (clean.capture.radiance() > 0.1) & (clean.capture.radiance() < 0.9)
    difference = (noisy.capture.radiance() - clean.capture.radiance())[middle]
    assert difference.std() == pytest.approx(0.02, rel=0.03)
    assert abs(difference.mean()) < 5e-4


def test_cast_shadows_only_darken():
    plain = render(small(shape="rings"))
    dark = render(small(shape="rings", cast_shadows=True))
    assert np.array_equal(plain.truth.depth, dark.truth.depth, equal_nan=True)
    # exposures differ: the lighting written down says by how much
    exposure = plain.truth.lighting[:, 0, 0] / dark.truth.lighting[:, 0, 0]
    before = plain.capture.radiance()
    after = dark.capture.radiance() * exposure[:, None, None]
    unclipped = (before < 1) & (dark.capture.radiance() < 1)
    assert (after - before)[unclipped].max() < 2e-4
    assert np.quantile(after / np.maximum(before, 1e-3), 0.01) < 0.85


@pytest.fixture(scope="module")
def ball_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meshes")
    ball = trimesh.creation.icosphere(subdivisions=3)  # 1280 facets, 6 degrees wide
    for suffix in ("ply", "obj", "glb"):
        ball.export(folder / f"ball.{suffix}")
    return folder


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("suffix", ["ply", "obj", "glb"])
def test_a_coarse_mesh_shows_no_facets(ball_files, suffix, orthographic):
    pytest.importorskip("embreex")
    options = small(
        shape=str(ball_files / f"ball.{suffix}"), height=80, orthographic=orthographic,
        protocol="mesh",
    )  # fmt: skip
    truth = render(options).truth
    _, exact, view = analytic_sphere(small(shape="sphere", height=80, orthographic=orthographic))
    inside = truth.mask & np.isfinite(exact[..., 0])
    rows, columns = np.nonzero(inside)
    facing = -(exact[inside] * view.camera.rays(columns.astype(float), rows.astype(float))).sum(1)
    clear = facing > 0.2
    angles = angles_deg(truth.normals[inside], exact[inside])[clear]
    assert angles.mean() < 0.3
    assert angles.max() < 1.0
    from_depth = depth_normals(truth.camera, truth.depth, truth.mask)[inside][clear]
    assert angles_deg(from_depth, exact[inside][clear]).mean() < 0.6


@pytest.mark.parametrize("damage", ["inverted", "tiny", "huge"])
def test_what_a_file_says_about_inside_and_units_does_not_matter(tmp_path, damage):
    pytest.importorskip("embreex")
    ball = trimesh.creation.icosphere(subdivisions=3)
    scale = {"inverted": 1.0, "tiny": 1e-6, "huge": 1e6}[damage]
    plain = small(shape=str(tmp_path / "plain.ply"))
    ball.export(tmp_path / "plain.ply")
    ball.apply_scale(scale)
    if damage == "inverted":
        ball.invert()
    ball.export(tmp_path / "odd.obj", digits=12)
    odd = render(small(shape=str(tmp_path / "odd.obj"))).truth
    expected = render(plain).truth
    both = odd.mask & expected.mask
    assert both.sum() > 0.99 * expected.mask.sum()
    assert angles_deg(odd.normals[both], expected.normals[both]).mean() < 0.1
    assert np.allclose(odd.depth[both], scale * expected.depth[both], rtol=1e-3)


def test_faces_that_disagree_about_the_outside(tmp_path):
    pytest.importorskip("embreex")
    ball = trimesh.creation.icosphere(subdivisions=3)
    faces = np.array(ball.faces)
    faces[::3] = faces[::3, ::-1]
    trimesh.Trimesh(ball.vertices, faces, process=False).export(tmp_path / "mixed.ply")
    ball.export(tmp_path / "plain.ply")
    mixed, plain = (
        render(small(shape=str(tmp_path / f"{n}.ply"))).truth for n in ("mixed", "plain")
    )
    assert angles_deg(mixed.normals[plain.mask], plain.normals[plain.mask]).mean() < 0.1


def test_light_that_reaches_nothing_is_refused(tmp_path):
    pytest.importorskip("embreex")
    light = np.zeros((64, 128, 3), np.float32)
    light[28:36, 62:66] = 1.0  # a beam; turned at random, some of many photos have it behind
    write_image(tmp_path / "beam.exr", light)
    corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
    trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]]).export(tmp_path / "sheet.ply")
    options = small(shape=str(tmp_path / "sheet.ply"), lights=str(tmp_path), images=30, height=16)
    with pytest.raises(InvalidInputError, match=r"photo .* is black"):
        render(options)


def test_normals_face_the_camera_at_the_silhouette(ball_files):
    pytest.importorskip("embreex")
    truth = render(small(shape=str(ball_files / "ball.ply"), height=100)).truth
    rows, columns = np.nonzero(truth.mask)
    rays = truth.camera.rays(columns.astype(float), rows.astype(float))
    assert ((truth.normals[truth.mask] * rays).sum(axis=1) < 0).all()


def test_shadows_and_supersampling_together():
    dark = render(small(shape="rings", cast_shadows=True, supersample=2)).capture.radiance()
    plain = render(small(shape="rings", supersample=2)).capture.radiance()
    assert np.quantile(dark / np.maximum(plain, 1e-3), 0.01) < 0.85


def test_mesh_and_protocol_forward_normals_of_a_mesh(ball_files):
    pytest.importorskip("embreex")
    shape = str(ball_files / "ball.ply")
    rendering = render(small(shape=shape, cast_shadows=True, supersample=2, height=48))
    plain = render(small(shape=shape, supersample=2, height=48))
    # a convex mesh casts no shadow on itself
    assert np.abs(rendering.capture.radiance() - plain.capture.radiance()).mean() < 2e-3


def test_orthographic_depth_is_in_pixels():
    truth = render(small(shape="sphere", orthographic=True)).truth
    assert isinstance(truth.camera, Orthographic)
    across = np.ptp(np.nonzero(truth.mask)[0]) + 1
    assert np.nanmax(truth.depth) - np.nanmin(truth.depth) == pytest.approx(across / 2, rel=0.15)
    assert np.nanmin(truth.depth) > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"images": 2}, {"height": 3}, {"width": 2}, {"focal": 0.0}, {"supersample": 0},
        {"noise": -1.0}, {"seed": -1}, {"supersample": 2, "protocol": "depth"},
        {"noise": float("nan")}, {"focal": float("nan")},
    ],
)  # fmt: skip
def test_impossible_options_are_refused(changes):
    with pytest.raises(InvalidInputError, match="--"):
        small(**changes)


def test_too_short_a_lens_is_refused():
    with pytest.raises(InvalidInputError, match="--focal"):
        render(small(shape="sphere", focal=0.1))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPE_NAMES)
def test_every_shape_with_every_albedo(shape):
    for albedo in ALBEDO_NAMES:
        rendering = render(small(shape=shape, albedo=albedo, height=40))
        photos, mask = rendering.capture.photos, rendering.capture.mask
        assert mask.sum() > 100
        assert (photos[:, ~mask] == 0).all()
        assert (photos[:, mask].reshape(3, -1).max(axis=1) > 20000).all()
        truth = rendering.truth
        for field in (truth.depth, truth.normals, truth.albedo):
            assert np.isfinite(field[mask]).all()
            assert np.isnan(field[~mask]).all()
