import json
from dataclasses import replace

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.export.lights import dominant_lights, photo_names, write_lights
from anylight.io.images import read_image
from anylight.io.lp import read_lp, write_lp
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import panorama, project, solid_angles, texel_directions
from anylight.photometry.shading import intensity

NAMES = ("photo 1 2 3.png", "größe.png", "日本 x.tif")


def lamp_map(direction, irradiance, height=128):
    """All light from the texel nearest to a direction, which sends the irradiance in all."""
    toward = texel_directions(height, 2 * height) @ direction
    row, column = np.unravel_index(toward.argmax(), toward.shape)
    light = np.zeros((height, 2 * height, 1))
    light[row, column] = irradiance / solid_angles(height, 2 * height)[row, column]
    return light


@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_lamp_is_found_with_its_strength(rng, order):
    for _ in range(5):
        direction = rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
        grey = lamp_map(direction, 2.5) + 0.3  # light from all sides has no direction
        lighting = project(np.repeat(grey, 3, 2)[None], order)
        (found,) = dominant_lights(lighting)
        assert np.dot(found.direction, direction) > np.cos(np.radians(1.5))
        assert np.isclose(found.strength, 2.5, rtol=1e-3)


def test_lighting_json_explains_the_photos(tmp_path, vase):
    write_lights(tmp_path, vase, NAMES)
    record = json.loads((tmp_path / "lighting.json").read_text(encoding="utf-8"))
    assert [photo["file"] for photo in record["photos"]] == list(NAMES)
    lighting = np.array([photo["coefficients"] for photo in record["photos"]])
    normals, albedo = vase.normals[vase.mask], vase.albedo[vase.mask].T
    assert np.allclose(
        intensity(albedo, lighting, normals), intensity(albedo, vase.lighting, normals)
    )
    assert "x right, y down, z forward" in record["convention"]
    for photo in record["photos"]:
        camera, opengl = photo["dominant"]["camera"], photo["dominant"]["opengl"]
        assert np.isclose(np.linalg.norm(camera), 1)
        assert np.allclose(np.array(camera) * [1, -1, -1], opengl)
        assert photo["dominant"]["strength"] > 0


def test_lp_round_trips_with_odd_names(tmp_path, vase):
    write_lights(tmp_path, vase, NAMES)
    entries = read_lp(tmp_path / "lights.lp")
    assert [name for name, _ in entries] == list(NAMES)
    expected = [np.multiply(lamp.direction, [1, -1, -1]) for lamp in dominant_lights(vase.lighting)]
    assert np.allclose([direction for _, direction in entries], expected, atol=1e-7)
    assert (tmp_path / "lights.lp").read_text(encoding="utf-8").startswith("3\n")


def test_maps_hold_the_light(tmp_path, vase):
    write_lights(tmp_path, vase, NAMES)
    maps = sorted((tmp_path / "lights").iterdir())
    assert [path.name for path in maps] == ["light_00.hdr", "light_01.hdr", "light_02.hdr"]
    for path, light in zip(maps, panorama(vase.lighting), strict=True):
        kept = np.maximum(light, 0)
        assert np.abs(read_image(path) - kept).max() <= kept.max() / 100


def test_names_may_be_of_the_whole_capture(vase):
    scene = replace(vase, photos=np.array([0, 2, 5]))
    capture = tuple("abcdef")
    assert photo_names(scene, capture) == ["a", "c", "f"]
    assert photo_names(scene, ("x", "y", "z")) == ["x", "y", "z"]
    assert photo_names(scene, ()) == ["0", "2", "5"]
    assert photo_names(vase, ()) == ["0", "1", "2"]


def test_five_channels_and_order_zero(tmp_path):
    lighting = np.ones((2, 5, 1))
    scene = Reconstruction(mask=np.ones((2, 2), bool), lighting=lighting)
    write_lights(tmp_path, scene, ("a", "b"))
    assert not (tmp_path / "lights.lp").exists()
    assert sorted(path.suffix for path in (tmp_path / "lights").iterdir()) == [".exr", ".exr"]
    assert json.loads((tmp_path / "lighting.json").read_text())["order"] == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begin"),
        ("a.png 0 0 1\n", "begin"),
        ("2\na.png 0 0 1\n", "promises 2 photos and lists 1"),
        ("1\na.png 0 0\n", "line 2"),
        ("1\n0 0 1\n", "line 2"),
        ("1\na.png 0 0 up\n", "line 2"),
        ("1\na.png 0 0 0\n", "line 2"),
        ("1\na.png 0 nan 1\n", "line 2"),
    ],
)
def test_bad_lp_files_are_explained(tmp_path, text, reason):
    (tmp_path / "a.lp").write_text(text)
    with pytest.raises(InvalidInputError, match=reason) as caught:
        read_lp(tmp_path / "a.lp")
    assert str(caught.value).startswith(str(tmp_path / "a.lp"))


def test_lp_of_others_is_read(tmp_path):
    (tmp_path / "a.lp").write_bytes(
        b"\xef\xbb\xbf2\r\nC:\\my photos\\a b.jpg\t0.1 -2 3e-1\r\n\r\nb 1 0 0"
    )
    assert read_lp(tmp_path / "a.lp") == [
        ("C:\\my photos\\a b.jpg", (0.1, -2.0, 0.3)),
        ("b", (1.0, 0.0, 0.0)),
    ]
    with pytest.raises(InvalidInputError, match="check the name"):
        read_lp(tmp_path / "none.lp")
    (tmp_path / "b.lp").write_bytes(b"1\n\xff\xfe 1 0 0")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        read_lp(tmp_path / "b.lp")


def test_what_is_written_is_read(tmp_path):
    lamps = [("a b.png", (0.6, 0.0, 0.8))]
    write_lp(tmp_path / "a.lp", lamps)
    assert read_lp(tmp_path / "a.lp") == lamps
