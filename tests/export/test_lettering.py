"""Numbers as text, against Python's own."""

import numpy as np
import pytest

from anylight.export.lettering import decimals_for, faces, rows


def text(lines):
    return b"".join(lines).decode("ascii").splitlines()


@pytest.mark.parametrize("size", [0.04, 0.37, 1.0, 9.99, 250.0, 9999.0])
@pytest.mark.parametrize("signed", [True, False])
def test_rows_are_fixed_point_numbers(rng, size, signed):
    values = (size * (rng.random((20_000, 3)) - 0.5 * signed)).astype(np.float32)
    decimals = decimals_for(values)
    lines = text(rows("v", values, decimals))
    wanted = [["v", *(f"{number:.{decimals}f}" for number in row)] for row in values.tolist()]
    assert [line.split() for line in lines] == wanted
    assert len({len(line) for line in lines}) == 1


def test_rows_keep_what_single_precision_holds(rng):
    values = (300 * (rng.random((5000, 3)) - 0.5)).astype(np.float32)
    read = np.array([line.split()[1:] for line in text(rows("v", values, 5))], float)
    assert np.abs(read - values).max() < np.spacing(np.float32(150))


@pytest.mark.parametrize(
    ("largest", "decimals"),
    [(0.0, 8), (0.5, 8), (1.0, 7), (9.5, 7), (10.0, 6), (9999.0, 4), (1e4, None), (1e-3, None)],
)
def test_eight_digits_are_written_or_none(largest, decimals):
    assert decimals_for(np.array([[0.0, -largest]])) == decimals


def test_signs_zeros_and_carries():
    values = np.array([[0.0, -1.0], [1.0, -0.000004], [0.999996, -0.5]])
    assert text(rows("vn", values, 5)) == [
        "vn  0.00000 -1.00000",
        "vn  1.00000 -0.00000",
        "vn  1.00000 -0.50000",
    ]


@pytest.mark.parametrize("most", [1, 9, 10, 99, 100, 12_345, 100_001])
def test_corners_are_named_three_times_from_one(rng, most):
    corners = rng.integers(0, most, (300, 3)).astype(np.int32)
    corners[0] = most - 1
    lines = text(faces(corners))
    wanted = [" ".join(["f", *(f"{n}/{n}/{n}" for n in row)]) for row in (corners + 1).tolist()]
    assert [" ".join(line.split()) for line in lines] == wanted


def test_nothing_is_no_lines():
    assert text(rows("v", np.zeros((0, 3)), 8)) == text(faces(np.zeros((0, 3), np.int32))) == []
