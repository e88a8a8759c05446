import numpy as np
import pytest
from intake.files import noise, write_photos

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.intake.intrinsics import read_intrinsics
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions

SHAPE = (24, 36)
OPENCV = """%YAML:1.0
---
calibration_time: "Sun Nov 15 12:00:00 2026"
image_width: {width}
image_height: {height}
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 8.0000000000000000e+02, 0., 3.5950000000000000e+02, 0.,
       8.2000000000000000e+02, 2.3950000000000000e+02, 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 5
   cols: 1
   dt: d
   data: [ {bend}, 0., 0., 0., 0. ]
avg_reprojection_error: 2.5e-01
"""


@pytest.fixture
def folder(tmp_path, rng):
    write_photos(tmp_path, noise(rng, 3, SHAPE, dtype=np.uint16))
    return tmp_path


def colmap(folder, line):
    path = folder / "cameras.txt"
    path.write_text(f"# Camera list with one line of data per camera:\n{line}\n")
    return path


def test_k_txt_is_taken_as_it_is(folder):
    (folder / "K.txt").write_text("40 0 17\n0 42 11\n0 0 1\n")
    intake = load(folder)
    assert intake.capture.camera == Perspective((40, 42), (17, 11))
    assert intake.camera.source == "K.txt"


@pytest.mark.parametrize(("width", "height"), [(720, 480), (36, 24)])
def test_opencv_files_follow_the_size_of_the_photos(folder, width, height):
    (folder / "calibration.yml").write_text(OPENCV.format(width=width, height=height, bend="0."))
    intake = load(folder)
    scale = 36 / width
    expected = Perspective((800 * scale, 820 * scale), (360 * scale - 0.5, 240 * scale - 0.5))
    assert np.allclose(intake.capture.camera.matrix, expected.matrix)
    assert intake.camera.source == "calibration.yml"


def test_a_point_falls_on_the_same_place_of_a_scaled_photo():
    matrix = np.array([[800, 0, 359.5], [0, 820, 239.5], [0, 0, 1.0]])
    camera = Perspective.from_K(matrix)
    small = camera.resized(0.25).matrix
    point = np.array([0.03, -0.02, 1.0])
    (u, v, _), (x, y, _) = matrix @ point, small @ point
    assert np.allclose([(u + 0.5) / 4, (v + 0.5) / 4], [x + 0.5, y + 0.5])
    assert np.allclose(camera.resized(0.25).resized(4.0).matrix, matrix)


def test_distortion_is_warned_of(folder):
    (folder / "a.yaml").write_text(OPENCV.format(width=720, height=480, bend="-1.2e-01"))
    assert any("undistort" in warning for warning in load(folder).warnings)


def test_a_calibration_of_another_shape_is_refused(folder):
    (folder / "a.yaml").write_text(OPENCV.format(width=480, height=720, bend="0."))
    with pytest.raises(InvalidInputError, match=r"a\.yaml.*480×720.*36×24"):
        load(folder)


def test_other_yaml_files_are_no_business_of_ours(folder):
    (folder / "notes.yaml").write_bytes(b"lens: \xff\n")
    assert load(folder).camera.guessed


@pytest.mark.parametrize("text", ["lens: 3\n", OPENCV.replace("0., 0., 1. ]", "0., 1. ]"),
                                  OPENCV.replace("8.0000000000000000e+02", ".Nan"),
                                  OPENCV.replace("8.0000000000000000e+02", "-8.")])  # fmt: skip
def test_a_broken_opencv_file_is_refused(folder, text):
    path = folder / "broken.yml"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=r"broken\.yml") as caught:
        load(folder, IntakeOptions(intrinsics=str(path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "focal", "warns"),
    [
        ("1 SIMPLE_PINHOLE 72 48 90 36 24", (45, 45), False),
        ("1 PINHOLE 72 48 90 94 36 24", (45, 47), False),
        ("1 SIMPLE_RADIAL 72 48 90 36 24 0.05", (45, 45), True),
        ("1 SIMPLE_RADIAL 72 48 90 36 24 1e-6", (45, 45), False),
        ("1 RADIAL 72 48 90 36 24 0 -0.1", (45, 45), True),
        ("1 OPENCV 72 48 90 94 36 24 0.1 0 0 0", (45, 47), True),
        ("7 FULL_OPENCV 72 48 90 94 36 24 0 0 0 0 0 0 0 0", (45, 47), False),
    ],
)
def test_colmap_cameras(folder, line, focal, warns):
    colmap(folder, line)
    intake = load(folder)
    assert np.allclose(intake.capture.camera.matrix, Perspective(focal, (17.5, 11.5)).matrix)
    assert any("undistort" in warning for warning in intake.warnings) == warns


def test_colmap_counts_from_the_corner_of_the_first_pixel(folder):
    colmap(folder, "1 PINHOLE 36 24 40 42 18 12")
    assert load(folder).capture.camera == Perspective((40, 42), (17.5, 11.5))


def test_of_several_colmap_cameras_the_first_is_taken_aloud(folder):
    colmap(folder, "1 PINHOLE 36 24 40 42 18 12\n2 PINHOLE 36 24 99 99 18 12")
    intake = load(folder)
    assert intake.capture.camera.focal_px == (40, 42)
    assert any("2 cameras" in warning for warning in intake.warnings)


@pytest.mark.parametrize(
    "line",
    [
        "1 OPENCV_FISHEYE 36 24 40 42 18 12 0 0 0 0",
        "1 SIMPLE_RADIAL_FISHEYE 36 24 40 18 12 0.1",
        "1 FOV 36 24 40 42 18 12 0.9",
        "1 PINHOLE 36 24 40 42 18",
        "1 PINHOLE 36 24 -40 42 18 12",
        "1 PINHOLE 36 24 forty 42 18 12",
        "",
    ],
)
def test_cameras_that_are_no_pinholes_are_refused(folder, line):
    colmap(folder, line)
    with pytest.raises(InvalidInputError, match=r"cameras\.txt") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "focal"),
    [
        ({"focal_px": 77.0}, 77.0),
        ({"focal_35mm": 50.0}, 50.0),
        ({"fov": 90.0}, 18.0),
        ({"fov": 2 * np.degrees(np.arctan(0.5))}, 36.0),
    ],
)
def test_numbers_on_the_command_line_outweigh_files(folder, options, focal):
    (folder / "K.txt").write_text("40 0 17\n0 42 11\n0 0 1\n")
    camera = load(folder, IntakeOptions(**options)).capture.camera
    assert camera.focal_px == pytest.approx((focal, focal))
    assert camera.centre_px == (17.5, 11.5)


def test_orthographic_outweighs_files(folder):
    (folder / "K.txt").write_text("40 0 17\n0 42 11\n0 0 1\n")
    camera = load(folder, IntakeOptions(orthographic=True)).capture.camera
    assert camera == Orthographic((17.5, 11.5))


@pytest.mark.parametrize("name", ["K.txt", "cameras.txt", "x.yml", "intrinsics"])
def test_a_camera_file_may_be_anywhere(folder, tmp_path_factory, name):
    path = tmp_path_factory.mktemp("cameras") / name
    path.write_text(
        {"cameras.txt": "1 PINHOLE 36 24 40 41 18 12", "x.yml": OPENCV.format(
            width=720, height=480, bend=0)}.get(name, "40 0 17.5\n0 41 11.5\n0 0 1")
    )  # fmt: skip
    camera = load(folder, IntakeOptions(intrinsics=str(path))).capture.camera
    assert camera == Perspective((40, 41), (17.5, 11.5))


def test_a_camera_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match="no such file"):
        read_intrinsics(tmp_path / "K.txt", SHAPE)


@pytest.mark.parametrize(
    "options",
    [
        {"fov": 40.0, "focal_px": 50.0},
        {"focal_35mm": 40.0, "orthographic": True},
        {"intrinsics": "K.txt", "fov": 30.0},
        {"fov": 0.0},
        {"fov": 180.0},
        {"fov": float("nan")},
        {"focal_px": -1.0},
        {"downscale": 0},
    ],
)
def test_contradictory_or_impossible_options_are_refused(options):
    with pytest.raises(InvalidInputError, match="--"):
        IntakeOptions(**options)


@pytest.mark.parametrize(
    ("note", "focal"), [("focal_px = 77", 77), ("focal_35mm = 50", 50), ("fov = 90", 18)]
)
def test_notes_may_name_the_lens(folder, note, focal):
    (folder / "capture.toml").write_text(note)
    intake = load(folder)
    assert intake.capture.camera.focal_px == pytest.approx((focal, focal))
    assert intake.camera.source == "capture.toml"


@pytest.mark.parametrize("note", ["fov = 180", "fov = -3", "focal_px = 0", "focal_35mm = nan"])
def test_an_impossible_lens_in_the_notes_is_refused(folder, note):
    (folder / "capture.toml").write_text(note)
    with pytest.raises(InvalidInputError, match=r"capture\.toml.*between"):
        load(folder)


def test_a_principal_point_far_away_is_warned_of(folder):
    (folder / "K.txt").write_text("40 0 360\n0 42 11\n0 0 1\n")
    assert any("principal point" in warning for warning in load(folder).warnings)
