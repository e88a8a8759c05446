import numpy as np
import pytest

from anylight.kernels.harmonics import some_harmonics
from anylight.photometry import harmonics as readable
from anylight.photometry.products import products


@pytest.mark.twin("kernels.harmonics._values")
@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1, 2, 3), products(8).wanted])
@pytest.mark.parametrize("num", [1, 300, 2048])
def test_values_are_those_of_the_readable_twin(rng, wanted, num):
    unit = rng.standard_normal((3, num))
    unit /= np.linalg.norm(unit, axis=0)
    found = some_harmonics(unit, wanted)
    np.testing.assert_allclose(found, readable.some_harmonics(unit, wanted), rtol=1e-6, atol=1e-7)
