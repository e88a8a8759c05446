import numpy as np
import pytest
from PIL import Image

from anylight.errors import InvalidInputError
from anylight.io.images import read_image, save_environment, write_image
from anylight.photometry.environment import panorama


def pixels(rng, dtype, channels):
    if np.dtype(dtype).kind == "f":
        return (rng.random((19, 23, channels)) * 50).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max + 1, (19, 23, channels)).astype(dtype)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("suffix", "dtype"),
    [(".png", np.uint8), (".png", np.uint16), (".tif", np.uint8), (".tif", np.uint16),
     (".tif", np.float32), (".exr", np.float32)],
)  # fmt: skip
def test_lossless_formats_round_trip(tmp_path, rng, suffix, dtype, channels):
    image = pixels(rng, dtype, channels)
    write_image(tmp_path / f"a{suffix}", image)
    back = read_image(tmp_path / f"a{suffix}")
    assert back.dtype == dtype
    assert np.array_equal(back, image)


@pytest.mark.parametrize("channels", [2, 4, 5, 7])
@pytest.mark.parametrize(("suffix", "dtype"), [(".tif", np.uint16), (".exr", np.float32)])
def test_any_number_of_channels(tmp_path, rng, suffix, dtype, channels):
    image = pixels(rng, dtype, channels)
    write_image(tmp_path / f"many{suffix}", image)
    assert np.array_equal(read_image(tmp_path / f"many{suffix}"), image)


def test_radiance_format_round_trips_within_its_mantissa(tmp_path, rng):
    image = pixels(rng, np.float32, 3)
    write_image(tmp_path / "a.hdr", image)
    error = np.abs(read_image(tmp_path / "a.hdr") - image)
    assert (error <= image.max(axis=-1, keepdims=True) / 128).all()


def test_jpeg_round_trips_roughly(tmp_path):
    u, v = np.meshgrid(np.arange(64), np.arange(48))
    image = np.stack([u * 3, v * 4, u + v], axis=-1).astype(np.uint8)
    write_image(tmp_path / "a.jpg", image)
    assert np.abs(read_image(tmp_path / "a.jpg").astype(int) - image).mean() < 3


def test_sixteen_bit_colour_is_not_cut_to_eight(tmp_path):
    # Pillow reads the very same file with 8 bits: this is why it is not used.
    image = np.arange(32 * 32 * 3, dtype=np.uint16).reshape(32, 32, 3)
    write_image(tmp_path / "deep.png", image)
    assert len(np.unique(read_image(tmp_path / "deep.png"))) == image.size
    with Image.open(tmp_path / "deep.png") as shallow:
        assert len(np.unique(np.asarray(shallow))) < image.size / 100


def test_alpha_is_left_out_and_does_not_darken(tmp_path, rng):
    rgba = pixels(rng, np.uint8, 4)
    rgba[..., 3] = 1 + rgba[..., 3] // 2
    Image.fromarray(rgba).save(tmp_path / "a.png")
    assert np.array_equal(read_image(tmp_path / "a.png"), rgba[..., :3])


def test_the_same_pixels_give_the_same_bytes(tmp_path, rng):
    image = pixels(rng, np.uint16, 3)
    for name in ("a.png", "b.png"):
        write_image(tmp_path / name, image)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg", ".exr", ".hdr"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_cut_files_are_refused(tmp_path, rng, suffix, share, capfd):
    dtype = np.float32 if suffix in (".exr", ".hdr") else np.uint8
    path = tmp_path / f"cut{suffix}"
    write_image(path, pixels(rng, dtype, 3))
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(InvalidInputError, match="cut") as caught:
        read_image(path)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # decoders print on their own; users see one sentence


@pytest.mark.parametrize("suffix", [".png", ".tif", ".jpg", ".exr", ".hdr"])
@pytest.mark.parametrize("content", [b"", b"just some text\n", b"\x00" * 100])
def test_files_that_are_no_images_are_refused(tmp_path, suffix, content):
    path = tmp_path / f"text{suffix}"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match="text"):
        read_image(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"nothing\.png: no such file"):
        read_image(tmp_path / "nothing.png")


def test_a_header_that_promises_too_much_is_refused(tmp_path, monkeypatch, rng):
    monkeypatch.setattr("anylight.io.images.MAX_PIXELS", 100)
    write_image(tmp_path / "big.png", pixels(rng, np.uint8, 1))
    with pytest.raises(InvalidInputError, match="more than the limit"):
        read_image(tmp_path / "big.png")


@pytest.mark.parametrize("dtype", [np.float64, np.uint32, np.int16])
def test_types_that_files_would_change_are_refused(tmp_path, dtype):
    with pytest.raises(TypeError, match="uint8, uint16 or float32"):
        write_image(tmp_path / "a.tif", np.zeros((4, 4, 1), dtype))


@pytest.mark.parametrize("suffix", [".hdr", ".exr"])
def test_a_panorama_goes_out_and_comes_back(tmp_path, rng, suffix):
    light = panorama(rng.standard_normal((1, 3, 9)), 32)[0]
    assert light.min() < 0
    save_environment(tmp_path / f"light{suffix}", light)
    back = read_image(tmp_path / f"light{suffix}")
    tolerance = light.max() / 100 if suffix == ".hdr" else 1e-6 * light.max()
    assert np.abs(back - np.maximum(light, 0)).max() < tolerance
