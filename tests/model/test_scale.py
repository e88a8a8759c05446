import numpy as np
import pytest

from anylight.errors import InvalidInputError
from anylight.geometry.camera import Orthographic, Perspective
from anylight.model.reconstruction import Reconstruction
from anylight.model.scale import ScaleOptions, to_scale

CAMERA = Perspective((50.0, 50.0), (20.0, 15.0))


def plane(camera=CAMERA, depth=2.0):
    mask = np.ones((31, 41), bool)
    return Reconstruction(mask, camera, np.full(mask.shape, depth))


def test_a_distance_is_the_median_depth():
    scene = to_scale(plane(), ScaleOptions(), distance=750.0)
    assert scene.unit == "mm"
    assert np.allclose(scene.depth, 750.0)


def test_two_points_end_up_so_far_apart():
    scene = to_scale(plane(), ScaleOptions(scale_points="10,15,30,15,100"))
    ends = CAMERA.points(np.array([10.0, 30.0]), np.array([15.0, 15.0]), scene.depth[15, [10, 30]])
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(100.0)


def test_points_are_those_of_the_photo_before_reducing_and_cutting():
    whole = to_scale(plane(), ScaleOptions(scale_points="10,15,30,15,100"))
    camera = Perspective((25.0, 25.0), (10.0 - 0.25 - 2, 7.5 - 0.25 - 1))
    part = Reconstruction(np.ones((14, 18), bool), camera, np.full((14, 18), 2.0))
    found = to_scale(part, ScaleOptions(scale_points="10,15,30,15,100"), (2, 1), 2)
    assert np.allclose(found.depth, whole.depth[0, 0])


def test_parallel_rays_learn_the_size_of_a_pixel():
    scene = plane(Orthographic((20.0, 15.0)), 0.0)
    found = to_scale(scene, ScaleOptions(scale_points="0,0,30,40,25"))
    assert found.pixel_mm == pytest.approx(0.5)
    with pytest.raises(InvalidInputError, match="scale-points"):
        to_scale(scene, ScaleOptions(), distance=100.0)


@pytest.mark.parametrize("text", ["1,2,3,4", "a,b,c,d,e", "1,1,1,1,5", "1,2,3,4,-5", ""])
def test_other_texts_are_refused(text):
    with pytest.raises(InvalidInputError, match="scale-points"):
        ScaleOptions(scale_points=text)


def test_a_point_beside_the_object_is_refused():
    scene = plane()
    scene.mask[:, :15] = False
    with pytest.raises(InvalidInputError, match="not on the object"):
        to_scale(scene, ScaleOptions(scale_points="5,15,30,15,100"))


def test_nothing_asked_nothing_changed():
    scene = plane()
    assert to_scale(scene, ScaleOptions()) is scene
