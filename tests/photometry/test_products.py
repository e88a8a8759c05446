"""Products of harmonics are sums of harmonics."""

import numpy as np
import pytest

from anylight.photometry.harmonics import DEGREES, harmonics, num_harmonics
from anylight.photometry.products import products


@pytest.mark.parametrize("order", DEGREES[1:])
def test_every_product_is_made_of_the_functions(order):
    normals = np.random.default_rng(0).standard_normal((200, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    made, values = products(order), harmonics(normals, order)
    found = (made.functions(normals.T).T @ made.table)[:, made.place]
    np.testing.assert_allclose(found, values[:, :, None] * values[:, None], atol=1e-5)


def test_there_are_far_fewer_functions_than_products():
    num = num_harmonics(8)
    assert products(8).table.shape == (208, num * (num + 1) // 2)
