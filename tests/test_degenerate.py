"""Captures that say too little, to every method: a sentence, or finite numbers and a status."""

from dataclasses import replace

import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Perspective
from anylight.intake.memory import make_capture
from anylight.methods import registered
from anylight.model.capture import Capture
from anylight.model.status import Status
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

SIZE = 32


@pytest.fixture(scope="module")
def good():
    made = render(SynthOptions(shape="bust", albedo="voronoi", images=6, height=SIZE))
    lights = np.random.default_rng(0).standard_normal((6, 3)) - [0, 0, 3]
    return replace(made.capture, lights=lights)


def constant(capture):
    return replace(capture, photos=np.full_like(capture.photos, 20000))


def one_colour_black(capture):
    photos = capture.photos.copy()
    photos[..., 1] = 0
    return replace(capture, photos=photos)


def two_equal_lights(capture):
    return replace(capture, photos=capture.photos[[0, 0, 0, 1, 1, 1]])


def all_equal_lights(capture):
    return replace(capture, photos=capture.photos[[0] * 6])


def one_pixel(capture):
    rows, columns = np.nonzero(capture.mask)
    mask = np.zeros_like(capture.mask)
    mask[rows[len(rows) // 2], columns[len(rows) // 2]] = True
    return replace(capture, mask=mask)


def scattered(capture):
    mask = capture.mask.copy()
    mask[::2] = False
    mask[:, ::2] = False
    return replace(capture, mask=mask)


def saturated(capture):
    return replace(capture, photos=np.full_like(capture.photos, 65535))


def one_row(capture):
    mask = np.zeros_like(capture.mask)
    mask[SIZE // 2] = capture.mask[SIZE // 2]
    return replace(capture, mask=mask)


def nearly_black(capture):
    return replace(capture, photos=(capture.photos // 20000).astype(np.uint16))


def huge_floats(capture):
    return replace(capture, photos=capture.photos.astype(np.float32) * np.float32(1e30))


CASES = (
    constant, one_colour_black, two_equal_lights, all_equal_lights, one_pixel, scattered, saturated,
    one_row, nearly_black, huge_floats,
)  # fmt: skip


@pytest.mark.filterwarnings("default")  # overflow on the way is no failure; what comes out is
@pytest.mark.parametrize("method", registered())
@pytest.mark.parametrize("spoil", CASES)
def test_a_sentence_or_finite_numbers(good, method, spoil):
    capture = spoil(good)
    refused, result = [], None
    try:
        result = reconstruct(capture, method=method)
    except InvalidInputError as error:
        refused.append(str(error))
    assert all(sentence.endswith(".") for sentence in refused)
    if result is None:
        return
    scene = result.reconstruction
    assert isinstance(result.status, Status)
    assert np.isfinite(scene.depth[scene.mask]).all()
    assert np.isfinite(scene.normals[scene.mask]).all()
    assert scene.albedo is None or np.isfinite(scene.albedo[scene.mask]).all()
    assert scene.lighting is None or np.isfinite(scene.lighting).all()
    assert all(warning.endswith(".") for warning in result.warnings)


def test_nan_is_refused_where_it_enters(good):
    photos = (good.photos / 65535).astype(np.float32)
    rows, columns = np.nonzero(good.mask)
    photos[2, rows[5], columns[5], 0] = np.nan
    with pytest.raises(InvalidInputError, match="photo 2"):
        replace(good, photos=photos)
    with pytest.raises(InvalidInputError, match="photo 2"):
        reconstruct(photos, mask=good.mask, K=good.camera.matrix)


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mask": np.ones((4, 4), np.uint8)}, "mask > 0"),
        ({"mask": [[True] * 4] * 4}, "array of bool"),
        ({"photos": np.zeros((5, 4, 4), np.uint8)}, "four axes"),
        ({"photos": np.zeros((5, 4, 4, 1))}, "make_capture"),
        ({"camera": np.eye(3)}, "from_K"),
        ({"camera": "perspective"}, "from_K"),
        ({"start": np.full((4, 4), np.nan)}, "holes"),
        ({"start": np.full((4, 4), -1.0)}, "not positive"),
        ({"start": np.ones((3, 4))}, "the start is 4×3"),
    ],
)
def test_wrong_kinds_are_refused_where_they_enter(change, words):
    whole = {
        "photos": np.ones((5, 4, 4, 1), np.uint8),
        "mask": np.ones((4, 4), bool),
        "camera": Perspective((5.0, 5.0), (1.5, 1.5)),
    }
    with pytest.raises(InvalidInputError, match=words):
        Capture(**(whole | change))


@pytest.mark.usefixtures("as_users_run_it")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"photos": np.zeros((4, 4))}, "photos, rows, columns"),
        ({"photos": np.zeros((5, 4, 4, 1), bool)}, "not bool"),
        ({"photos": np.full((5, 4, 4), -3)}, "0..65535"),
        ({"photos": np.full((5, 4, 4), "x")}, "numbers"),
        ({"photos": [np.zeros((4, 4)), np.zeros((3, 4))]}, "one size"),
        ({"mask": np.ones((4, 4, 1))}, "two axes"),
        ({"K": np.eye(4)}, "3×3"),
        ({"K": "K.txt"}, "3×3"),
        ({"K": np.diag([0.0, 1.0, 1.0])}, "positive"),
        ({"camera": np.eye(3)}, "give intrinsics as K"),
        ({"camera": "pinhole"}, "orthographic"),
        ({"transfer": "gamma"}, "srgb"),
        ({"depth": np.ones(4)}, "two axes"),
        ({"lights": np.ones((2, 3))}, "5 finite directions"),
    ],
)
def test_arrays_are_refused_with_a_sentence(change, words):
    whole = {"photos": np.ones((5, 4, 4), np.uint8), "mask": np.ones((4, 4), np.uint8)}
    with pytest.raises(InvalidInputError, match=words):
        make_capture(**(whole | change))


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, np.uint8, np.uint16, np.int64]
)
def test_any_usual_type_of_photos_is_taken(dtype):
    top = 1.0 if np.dtype(dtype).kind == "f" else 250
    photos = (np.linspace(0.1, 1, 5 * 16).reshape(5, 4, 4) * top).astype(dtype)
    capture = make_capture(photos, mask=np.full((4, 4), 255, np.uint8), camera="orthographic")
    assert capture.photos.shape == (5, 4, 4, 1)
    assert capture.mask.all()
    assert np.allclose(capture.photos[..., 0], photos, rtol=1e-3)


@pytest.mark.usefixtures("as_users_run_it")
def test_unknown_choices_are_refused(good):
    with pytest.raises(InvalidInputError, match="no method called nothing"):
        reconstruct(good, method="nothing")
    with pytest.raises(InvalidInputError, match="preset"):
        reconstruct(good, preset="best")
    with pytest.raises(InvalidInputError, match="favaro2012 has no option volume"):
        reconstruct(good, method="favaro2012", volume=0.1)
    with pytest.raises(InvalidInputError, match="default has no option smoothness"):
        reconstruct(good, smoothness=3)
    with pytest.raises(InvalidInputError, match="takes no start"):
        reconstruct(good, method="mo2018", start=np.ones(good.mask.shape))
    with pytest.raises(InvalidInputError, match="volume: expected `float"):
        reconstruct(good, volume="much")
    with pytest.raises(InvalidInputError, match="part of the capture already"):
        reconstruct(good, mask=good.mask)
