"""The path tracer against our own renderer, where both can say the same thing."""

import numpy as np
import pytest
import trimesh
from scipy import ndimage

from anylight.errors import InvalidInputError
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.synth.shapes import SHAPE_NAMES, embedded_shape
from anylight.synth.triangulation import triangulate

pytest.importorskip("mitsuba")


def inner(rendering, rows=2):
    return ndimage.binary_erosion(rendering.capture.mask, iterations=rows)


def difference(one, other):
    """Root mean square of the difference over the mean, away from the silhouette."""
    where = inner(one)
    a, b = (r.capture.photos[:, where].astype(float) for r in (one, other))
    return float(np.sqrt(((a - b) ** 2).mean()) / b.mean())


@pytest.mark.parametrize("orthographic", [False, True])
def test_one_bounce_is_direct_light(orthographic):
    asked = {"shape": "sphere", "albedo": "white", "height": 40, "images": 3}
    traced = render(SynthOptions(**asked, bounces=1, orthographic=orthographic))
    ours = render(SynthOptions(**asked, cast_shadows=True, orthographic=orthographic))
    assert difference(traced, ours) < 0.02
    assert np.array_equal(traced.capture.mask, ours.capture.mask)
    assert np.array_equal(traced.truth.normals, ours.truth.normals, equal_nan=True)
    assert traced.noise < 0.01


@pytest.mark.slow
def test_one_bounce_casts_shadows_and_more_fill_them(tmp_path):
    """A mesh, which our own renderer traces ray by ray too."""
    pytest.importorskip("embreex")
    vertices, faces, _ = triangulate(embedded_shape("bust"), 0.05)
    path = tmp_path / "bust.ply"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    asked = {"shape": str(path), "albedo": "white", "height": 56, "images": 3}
    ours = render(SynthOptions(**asked, cast_shadows=True, supersample=3))
    direct = render(SynthOptions(**asked, bounces=1))
    unshadowed = render(SynthOptions(**asked, supersample=3))
    assert difference(direct, ours) < 0.03
    assert difference(direct, unshadowed) > 2.5 * difference(direct, ours)
    several = render(SynthOptions(**asked, bounces=4))
    where = inner(direct)
    assert several.capture.photos[:, where].mean() > 1.03 * direct.capture.photos[:, where].mean()


@pytest.mark.slow
def test_gloss_adds_highlights():
    asked = {"shape": "sphere", "albedo": "constant", "height": 40, "images": 3, "bounces": 1}
    matt, glossy = render(SynthOptions(**asked)), render(SynthOptions(**asked, gloss=0.1))
    where = inner(matt)
    spread = [np.std(r.capture.photos[:, where] / r.capture.photos[:, where].mean()) for r in
              (matt, glossy)]  # fmt: skip
    assert spread[1] > 1.05 * spread[0]


@pytest.mark.parametrize(
    "wrong", [{"gloss": 0.1}, {"bounces": 1, "protocol": "depth"}, {"bounces": 1, "supersample": 2},
              {"bounces": -1}, {"bounces": 1, "gloss": 7.0}]
)  # fmt: skip
def test_what_does_not_go_together_is_refused(wrong):
    with pytest.raises(InvalidInputError):
        SynthOptions(**wrong)


@pytest.mark.parametrize("name", SHAPE_NAMES)
def test_triangles_lie_on_the_solid_and_close(name):
    solid = embedded_shape(name)
    vertices, faces, normals = triangulate(solid, 0.1)
    assert np.median(np.abs(solid.implicit(vertices))) < 1e-4
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    assert (count % 2 == 0).mean() > 0.999
