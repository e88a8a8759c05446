import numpy as np

from anylight.joint.paint.faintest import faintest_light
from anylight.photometry.harmonics import half_cosines, harmonics
from anylight.photometry.shading import shading


def test_the_faintest_light_shades_alike_and_forgets_what_nobody_sees(rng):
    normals = 0.15 * rng.standard_normal((3000, 3))
    normals[:, 2] = -1.0
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    lamp = np.zeros((2, 1, 31))
    lamp[:, 0, :4] = [[1.0, -0.3, -0.6, 0.2], [1.0, 0.3, -0.5, -0.4]]
    gram = harmonics(normals, 6).T @ harmonics(normals, 6)
    unseen = np.linalg.eigh(gram)[1][:, :4] @ rng.standard_normal((4, 2))
    mixed = lamp + 3.0 * unseen.T[:, None]
    found = faintest_light(mixed, normals)
    before, after = shading(mixed, normals), shading(found, normals)
    assert np.sqrt(((after - before) ** 2).mean() / (before**2).mean()) < 0.0101
    radiance = 1 / half_cosines(6)
    assert np.linalg.norm(found * radiance) < 0.5 * np.linalg.norm(mixed * radiance)
