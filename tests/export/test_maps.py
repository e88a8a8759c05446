from dataclasses import replace

import numpy as np
import OpenImageIO as oiio
import pytest

from anylight import Orthographic, Reconstruction
from anylight.export.maps import (
    write_albedo,
    write_confidence,
    write_depth,
    write_normals,
)
from anylight.io.depths import load_depth_map
from anylight.io.images import read_attributes, read_image, write_image
from anylight.io.normals import normals_from_image, stated_convention

TO_OPENGL = {"opengl": [1, -1, -1], "directx": [1, 1, -1], "camera": [1, 1, 1]}


@pytest.mark.parametrize("unit", ["mm", None])
def test_depth_round_trips_with_its_unit(tmp_path, vase, unit):
    scene = replace(vase, unit=unit)
    write_depth(tmp_path, scene)
    step = np.ptp(scene.depth[scene.mask]) / 65534
    for name, error in (("depth.exr", 1e-6 * np.nanmax(scene.depth)), ("depth.png", 0.51 * step)):
        depth, found = load_depth_map(tmp_path / name, scene.mask.shape)
        assert found == unit
        assert np.array_equal(np.isfinite(depth), scene.mask)
        assert np.abs(depth - scene.depth)[scene.mask].max() <= error


def test_depth_files_say_what_they_are(tmp_path, vase):
    write_depth(tmp_path, replace(vase, unit="mm"))
    source = oiio.ImageInput.open(str(tmp_path / "depth.exr"))
    assert source.spec().channelnames == ("Z",)
    source.close()
    words = read_attributes(tmp_path / "depth.exr")
    assert words["anylight:unit"] == "mm"
    assert "optical axis" in words["anylight:frame"]
    words = read_attributes(tmp_path / "depth.png")
    assert words["unit"] == "mm"
    assert {"offset", "step", "formula", "frame"} <= words.keys()
    levels = read_image(tmp_path / "depth.png")
    assert levels.dtype == np.uint16
    assert levels[vase.mask].min() == 1
    assert levels[vase.mask].max() == 65535
    assert (levels[~vase.mask] == 0).all()


def test_a_plane_of_negative_orthographic_depth_round_trips(tmp_path):
    mask = np.ones((4, 5), bool)
    mask[0, 0] = False
    depth = np.where(mask, -3.5, np.nan)
    write_depth(tmp_path, parallel_scene(mask, depth))
    for name in ("depth.exr", "depth.png"):
        back, unit = load_depth_map(tmp_path / name, (4, 5))
        assert unit is None
        assert np.array_equal(back, depth, equal_nan=True)


def parallel_scene(mask, depth):
    return Reconstruction(mask, Orthographic((2.0, 2.0)), depth)


@pytest.mark.parametrize("convention", TO_OPENGL)
@pytest.mark.parametrize("name", ["normals.png", "normals.exr"])
def test_normals_round_trip_in_every_convention(tmp_path, vase, convention, name):
    write_normals(tmp_path, vase, convention)
    assert stated_convention(tmp_path / name) == convention
    image = read_image(tmp_path / name)
    values = image if image.dtype == np.float32 else image / 65535 * 2 - 1
    back = values[vase.mask] * TO_OPENGL[convention]
    assert np.abs(back - vase.normals[vase.mask]).max() < 1e-4
    assert (image[~vase.mask] == 0).all()


def test_opengl_normals_are_read_by_the_program_itself(tmp_path, vase):
    write_normals(tmp_path, vase, "opengl")
    for name in ("normals.png", "normals.exr"):
        back = normals_from_image(tmp_path / name, read_image(tmp_path / name))
        assert np.array_equal(np.isfinite(back).all(-1), vase.mask)
        assert np.abs(back - vase.normals)[vase.mask].max() < 1e-4


def test_the_darkest_normal_is_not_black(tmp_path):
    normals = np.array([[[-1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]])
    normals[0, 0] /= np.sqrt(3)
    scene = parallel_scene(np.ones((1, 2), bool), np.ones((1, 2)))
    write_normals(tmp_path, replace(scene, normals=normals), "opengl")
    assert read_image(tmp_path / "normals.png").min() > 0


def test_a_foreign_file_has_no_convention(tmp_path):
    write_image(tmp_path / "plain.png", np.ones((3, 3, 3), np.uint16))
    assert stated_convention(tmp_path / "plain.png") is None
    assert stated_convention(tmp_path / "none.png") is None


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("brightest", [0.8, 2.5])
def test_albedo_round_trips_linearly(tmp_path, vase, channels, brightest):
    albedo = vase.albedo[..., :1].repeat(channels, 2) / np.nanmax(vase.albedo) * brightest
    write_albedo(tmp_path, replace(vase, albedo=albedo, lighting=None))
    words = read_attributes(tmp_path / "albedo.png")
    assert words["transfer"] == "linear"
    coded = read_image(tmp_path / "albedo.png")
    assert coded.shape == albedo.shape
    back = coded / 65535 * float(words["scale"])
    assert np.abs(back - albedo)[vase.mask].max() < 1e-4
    exact = read_image(tmp_path / "albedo.exr")
    assert np.allclose(exact[vase.mask], albedo[vase.mask], rtol=1e-6)
    assert read_attributes(tmp_path / "albedo.exr")["anylight:transfer"] == "linear"


def test_albedo_of_five_channels_is_an_exr_only(tmp_path, vase):
    write_albedo(tmp_path, replace(vase, albedo=vase.albedo[..., :1].repeat(5, 2), lighting=None))
    assert [path.name for path in tmp_path.iterdir()] == ["albedo.exr"]
    assert read_image(tmp_path / "albedo.exr").shape[2] == 5


def test_confidence_is_a_grey_picture(tmp_path, vase):
    confidence = np.where(vase.mask, np.linspace(0, 1, vase.mask.shape[1]), np.nan)
    write_confidence(tmp_path, replace(vase, confidence=confidence))
    image = read_image(tmp_path / "confidence.png")
    assert image.dtype == np.uint8
    assert np.abs(image[..., 0] / 255 - confidence)[vase.mask].max() < 0.002


def test_nothing_known_nothing_written(tmp_path, vase):
    bare = replace(vase, depth=None, normals=None, albedo=None, confidence=None)
    write_depth(tmp_path, bare)
    write_normals(tmp_path, bare, "opengl")
    write_albedo(tmp_path, bare)
    write_confidence(tmp_path, bare)
    assert not list(tmp_path.iterdir())
