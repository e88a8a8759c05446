from dataclasses import replace

import numpy as np
import pytest
from intake.files import rendering

import anylight
from anylight.doctor.after import _about_shadows, diagnose
from anylight.doctor.before import examine
from anylight.doctor.sentences import gauge_sentence
from anylight.intake.load import load
from anylight.intake.shifts import Shifts
from anylight.io.capture import save_capture
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.model.result import Result
from anylight.model.status import Status


def vase():
    return rendering("vase", "bars", images=10, height=64)


@pytest.fixture(scope="module")
def shaken(tmp_path_factory):
    """A result from ten photos of which one was shifted, and what it was made from."""
    capture = vase().capture
    photos = capture.photos.copy()
    photos[6] = np.roll(photos[6], 5, axis=1)
    folder = tmp_path_factory.mktemp("shaken")
    save_capture(folder, Capture(photos, capture.mask, capture.camera))
    intake = load(folder)
    return anylight.reconstruct(intake.capture, shadows="off", order=4), intake


@pytest.fixture(scope="module")
def examination(shaken):
    return examine(shaken[1])


def odd(findings):
    return [finding for finding in findings if "does not fit" in finding.text]


def test_the_photo_that_does_not_fit_is_named(shaken, examination):
    result, intake = shaken
    (finding,) = odd(diagnose(result, intake.capture, examination))
    assert finding.text.startswith("photo_06.png")
    assert finding.severity == "warning"
    assert "Leave it out" in finding.remedy


def test_photos_without_names_are_numbered(shaken):
    result, intake = shaken
    capture = replace(intake.capture, names=())
    assert odd(diagnose(result, capture))[0].text.startswith("photo 6")


@pytest.mark.parametrize(
    ("moved", "clipped", "black", "cause"),
    [
        (3.0, 0.3, 0.8, "it moved by about 3.0 pixels"),
        (0.0, 0.3, 0.8, "30 % of it is clipped"),
        (0.0, 0.0, 0.8, "most of it is black"),
        (0.0, 0.0, 0.0, "it moved, is clipped, or holds a hard shadow"),
    ],
)
def test_what_was_found_before_names_the_cause(shaken, examination, moved, clipped, black, cause):
    result, intake = shaken
    before = replace(
        examination,
        clipped=np.full(10, clipped),
        black=np.full(10, black),
        shifts=Shifts(np.stack([np.full(10, moved), np.zeros(10)], axis=1), np.full(10, 99.0)),
    )
    assert cause in odd(diagnose(result, intake.capture, before))[0].text


def test_the_truth_leaves_next_to_nothing(shaken):
    scene = replace(vase().truth, photos=np.arange(10))
    capture = vase().capture
    findings = diagnose(replace(shaken[0], reconstruction=scene), capture)
    (finding,) = (f for f in findings if f.topic == "fit")
    assert finding.severity == "good"


def test_only_the_photos_that_were_used_are_judged(shaken):
    chosen = np.array([7, 2, 5])
    scene = vase().truth
    some = replace(scene, photos=chosen, lighting=scene.lighting[chosen])
    others = replace(some, photos=np.array([0, 1, 3]))
    for judged, severity in ((some, "good"), (others, "warning")):
        findings = diagnose(replace(shaken[0], reconstruction=judged), vase().capture)
        assert {f.severity for f in findings if f.topic == "fit"} == {severity}


def test_a_poor_fit_is_warned_of(shaken, rng):
    noisy = replace(vase().truth, photos=np.arange(10))
    paint = noisy.albedo * rng.uniform(0.3, 1.7, noisy.albedo.shape)
    result = replace(shaken[0], reconstruction=replace(noisy, albedo=paint))
    findings = diagnose(result, vase().capture)
    assert any(f.topic == "fit" and "--transfer" in f.remedy for f in findings)


def started(result, chosen, *starts):
    names = ("name", "energy", "rim_outward")
    listed = [dict(zip(names, start, strict=True)) for start in starts]
    return replace(result, record={"starts": listed, "chosen": chosen}, warnings=())


@pytest.mark.parametrize(
    ("starts", "word"),
    [
        ([("a", 1.0, -0.5), ("a flipped", 2.0, 0.5)], "bowl"),
        ([("a", 1.0, 0.1), ("a flipped", 1.02, -0.1)], "flip"),
        ([("a", 1.0, 0.5), ("a flipped", 1.02, -0.5)], None),
        ([("a", 1.0, 0.5), ("a flipped", 2.0, -0.5)], None),
    ],
)
def test_bowls_and_flips_are_suspected(shaken, starts, word):
    result, intake = shaken
    found = [
        f.text
        for f in diagnose(started(result, "a", *starts), intake.capture)
        if f.topic == "shape"
    ]
    assert len(found) == (word is not None)
    assert all(word in text for text in found)


def _bare(scene, record):
    return Result(scene, Status.FINISHED, (), (), {}, 1, "default", record)


def test_hidden_parts_are_told():
    mask = np.ones((4, 5), bool)
    scene = Reconstruction(mask, openness=np.full((4, 5), 0.4))
    record = {"shadows": {"verdict": "cast shadows are part of the explanation."}}
    (finding,) = _about_shadows(_bare(scene, record))
    assert finding.severity == "note"
    assert "100 % of the pixels see less than half" in finding.text
    (other,) = _about_shadows(_bare(Reconstruction(mask), {"shadows": {"verdict": "none seen."}}))
    assert other.text == "None seen."
    assert _about_shadows(_bare(scene, {})) == []


def test_nothing_that_is_undecided_is_good(shaken):
    result, intake = shaken
    gauge = {"tilt_u_deg": 20.0, "tilt_v_deg": 3.0, "relief_deg": 3.0, "sentence": "open it is."}
    vague = replace(result, record={**result.record, "gauge": gauge}, warnings=())
    (finding,) = [f for f in diagnose(vague, intake.capture) if f.topic == "overall shape"]
    assert finding.severity == "warning"
    firm = {**gauge, "tilt_u_deg": 1.0}
    sure = replace(result, record={**result.record, "gauge": firm}, warnings=())
    (finding,) = [f for f in diagnose(sure, intake.capture) if f.topic == "overall shape"]
    assert finding.severity == "good"


def test_the_worst_comes_first(shaken, examination):
    result, intake = shaken
    found = [finding.severity for finding in diagnose(result, intake.capture, examination)]
    order = ["problem", "warning", "note", "good"]
    assert found == sorted(found, key=order.index)


@pytest.mark.parametrize("play", [6.0, 30.0])
def test_near_lamps_are_told_to_move_not_the_camera(play):
    gauge = dict.fromkeys(("tilt_u_deg", "tilt_v_deg", "relief_deg"), play)
    assert "shorter lens" in gauge_sentence(gauge)
    assert "shorter lens" not in gauge_sentence(gauge, 2.0)
    assert "Lamps farther away" in gauge_sentence(gauge, 2.0)
