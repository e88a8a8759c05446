"""Small levels to test on."""

import numpy as np

from anylight.geometry.camera import Perspective
from anylight.joint.problem.eigenphotos import compress
from anylight.joint.problem.packed import pack
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.model.samples import white_level
from anylight.synth.options import SynthOptions
from anylight.synth.render import render

CAMERA = Perspective((30.0, 32.0), (10.2, 8.4))


def blob_level(rng, camera=CAMERA):
    """An odd mask with noise for photos."""
    rows, columns = np.indices((17, 21))
    mask = ((rows - 8) / 7.2) ** 2 + ((columns - 10) / 9.1) ** 2 < 1
    mask[4:6, 9:12] = False
    photos = rng.random((int(mask.sum()), 3 * 5)).astype(np.float32) + 0.1
    return PyramidLevel(mask, camera, pack(photos), 3, np.ones(len(photos), np.float32))


def rendered_level(**options):
    """A rendered scene as a level, with its truth."""
    scene = render(SynthOptions(**{"shape": "bust", "albedo": "voronoi", "height": 72, **options}))
    photos = compress(scene.capture, white_level(scene.capture))
    level = PyramidLevel(
        np.array(scene.capture.mask), scene.capture.camera, pack(photos.values), 3, photos.good
    )
    return level, scene.truth
