import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.io.images import write_image
from anylight.photometry.environment import flux, project
from anylight.synth.lights import NUM_EMBEDDED, choose_lights, embedded_lights, load_lights


def test_embedded_lights_are_light():
    maps = embedded_lights()
    assert maps.shape == (NUM_EMBEDDED, 64, 128, 3)
    assert np.isfinite(maps).all()
    assert maps.min() >= 0
    assert np.array_equal(maps, embedded_lights())


def test_embedded_lights_vary_strongly():
    lighting = project(embedded_lights(), 2)
    shades = lighting.reshape(NUM_EMBEDDED, -1) / np.linalg.norm(
        lighting.reshape(NUM_EMBEDDED, -1), axis=1, keepdims=True
    )
    # All nine harmonics of a channel are excited independently ...
    values = np.linalg.svd(lighting[:, 1] / lighting[:, 1, :1], compute_uv=False)
    assert values[8] > 0.01 * values[0]
    # ... and no two photos are nearly the same.
    alike = shades @ shades.T - np.eye(NUM_EMBEDDED)
    assert alike.max() < 0.998
    towards = lighting.mean(1)[:, 1:4]
    towards = towards / np.linalg.norm(towards, axis=1, keepdims=True)
    assert np.linalg.norm(towards.mean(0)) < 0.85


def test_choice_turns_by_the_generator_and_repeats():
    maps = embedded_lights()[:3]
    chosen = choose_lights(maps, 5, np.random.default_rng(1), 0.5)
    again = choose_lights(maps, 5, np.random.default_rng(1), 0.5)
    assert np.array_equal(chosen, again)
    assert np.allclose(np.sort(chosen[3].ravel()), np.sort(maps[0].ravel()))
    assert not np.array_equal(chosen[3], chosen[0])


def test_a_folder_of_maps(tmp_path, rng):
    light = rng.random((180, 360, 3)).astype(np.float32)
    write_image(tmp_path / "b.exr", light)
    write_image(tmp_path / "a.hdr", light * 2)
    maps = load_lights(tmp_path)
    assert maps.shape == (2, 64, 128, 3)
    power = flux(light[None].astype(float)).sum(-1)
    assert np.allclose(flux(maps).sum(-1), power * [[2], [1]], rtol=0.01)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ("shape", "twice as wide"),
        ("nan", "non-finite"),
        ("negative", "negative"),
        ("black", "black"),
    ],
)
def test_bad_maps(tmp_path, rng, bad, word):
    light = rng.random((32, 40 if bad == "shape" else 64, 3)).astype(np.float32)
    if bad in ("nan", "negative"):
        light[3, 3] = np.nan if bad == "nan" else -1
    write_image(tmp_path / "bad.exr", light * (bad != "black"))
    with pytest.raises(InvalidInputError, match=word) as caught:
        load_lights(tmp_path)
    assert "bad.exr" in str(caught.value)


def test_folders_without_maps(tmp_path):
    with pytest.raises(InvalidInputError, match="holds no"):
        load_lights(tmp_path)
    with pytest.raises(InvalidInputError, match="no such folder"):
        load_lights(tmp_path / "nowhere")
