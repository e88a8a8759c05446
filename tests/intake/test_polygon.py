import numpy as np
import pytest
from intake.files import noise, write_photos
from matplotlib.path import Path as Outline

from anylight.errors import InvalidInputError
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.intake.polygon import is_polygon, polygon_mask


def text(points):
    return " ".join(f"{x:.6f},{y:.6f}" for x, y in points)


def brute_force(points, shape):
    """Even-odd rule, pixel by pixel: count the edges to the left."""
    mask = np.zeros(shape, bool)
    for row, column in np.ndindex(shape):
        crossings = 0
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            if (y0 <= row) != (y1 <= row):
                crossings += x0 + (row - y0) / (y1 - y0) * (x1 - x0) < column
        mask[row, column] = crossings % 2
    return mask


def test_a_rectangle_has_its_area():
    mask = polygon_mask("9.5,4.5 29.5,4.5 29.5,19.5 9.5,19.5", (40, 50))
    assert mask.sum() == 20 * 15
    assert mask[5:20, 10:30].all()


def test_a_triangle_has_about_its_area():
    mask = polygon_mask("10.3,10.1 210.2,10.4 110.7,160.6", (200, 250))
    assert mask.sum() == pytest.approx(0.5 * 199.9 * 150.3, rel=0.01)


def test_it_does_not_matter_which_way_round():
    points = [(3, 2), (30, 5), (20, 28), (8, 17)]
    assert np.array_equal(polygon_mask(text(points), (32, 40)),
                          polygon_mask(text(points[::-1]), (32, 40)))  # fmt: skip


def test_a_star_is_hollow():
    angles = np.arange(5) * 4 * np.pi / 5
    points = np.stack([40 + 35 * np.sin(angles), 40 - 35 * np.cos(angles)], axis=1)
    mask = polygon_mask(text(points), (80, 80))
    assert not mask[40, 40]
    assert mask[12, 40]
    assert np.array_equal(mask, brute_force(points, (80, 80)))


def test_any_polygon_agrees_with_brute_force(rng):
    for _ in range(10):
        around = [(-20, 10.2), (15.1, 50), (60, -10.3)]  # so that some of it is in the photo
        points = np.concatenate([around, rng.uniform(-5, 45, (rng.integers(0, 6), 2)).round(3)])
        assert np.array_equal(polygon_mask(text(points), (30, 40)), brute_force(points, (30, 40)))


def test_a_concave_polygon_agrees_with_matplotlib():
    points = np.array([(5.2, 5.1), (60.3, 8.4), (20.7, 20.9), (55.5, 44.2), (7.1, 40.8)])
    rows, columns = np.mgrid[:50, :70]
    inside = Outline(points).contains_points(np.stack([columns.ravel(), rows.ravel()], axis=1))
    assert np.array_equal(polygon_mask(text(points), (50, 70)), inside.reshape(50, 70))


@pytest.mark.parametrize("words", ["0,0 10,0", "1,2", "1.2.3,4 5,6 7,8", "1-2,3 4,5 6,7", "1,2,3",
                                   "900,900 990,900 900,990"])  # fmt: skip
def test_what_is_no_polygon_is_refused(words):
    assert is_polygon(words)
    with pytest.raises(InvalidInputError, match="polygon") as caught:
        polygon_mask(words, (30, 40))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["mask.png", "12.png", "a,b.png", "", "12"])
def test_file_names_are_no_polygons(name):
    assert not is_polygon(name)


def test_a_polygon_masks_a_capture(tmp_path, rng):
    write_photos(tmp_path, noise(rng, 3, (24, 36)))
    intake = load(tmp_path, IntakeOptions(mask="4.5,2.5;20.5,2.5;20.5,12.5;4.5,12.5"))
    assert intake.capture.mask.sum() == 160
    assert intake.mask_source == "the options"
