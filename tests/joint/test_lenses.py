"""Lenses that nobody knows: how they are weighed, and what a run makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from intake.files import rendering

import anylight
from anylight.geometry.camera import Perspective
from anylight.intake.intrinsics import guessed_camera
from anylight.joint.course import lenses
from anylight.joint.course.lenses import LENSES, LensTrial, weighed


def trial(focal, energy=1.0, strain=(0.0, 0.0, 0.0), lean=0.0):
    unit = np.tile([[np.sin(lean)], [0.0], [-np.cos(lean)]], 5)
    return LensTrial(focal, energy, np.array(strain), unit, np.zeros((2, 2)))


def test_where_nothing_decides_the_usual_lens_is_taken():
    choice = weighed(tuple(trial(focal) for focal in LENSES))
    assert choice.focal_35mm == 50
    assert sum(choice.weights.values()) == pytest.approx(1)
    short, long = choice.possible
    assert short < 50 < long


def test_energy_decides_against_usual_lenses():
    choice = weighed((trial(50, 1.8), trial(250, 1.0), trial(800, 1.02)))
    assert choice.focal_35mm == 250
    assert choice.possible[0] == 250


def test_energies_that_differ_by_less_than_errors_of_the_model_do_not():
    choice = weighed((trial(24, 1.0), trial(50, 1.001), trial(100, 1.0)))
    assert choice.weights[50] > 0.3


def test_an_unusual_shape_speaks_against_a_lens():
    choice = weighed((trial(50, strain=(0, 3.0, -2.0)), trial(120)))
    assert choice.weights[120] > 0.8


def test_the_play_is_how_far_possible_lenses_are_apart():
    lean = np.deg2rad(12)
    even = (trial(35, lean=lean), trial(50), trial(75, lean=-lean))
    assert weighed(even).play_deg == pytest.approx(12, abs=1e-6)
    sure = (trial(35, 9.0, lean=lean), trial(50), trial(75, 9.0, lean=-lean))
    assert weighed(sure).play_deg == pytest.approx(6, abs=1e-6)  # between two that were tried


@pytest.fixture(scope="module")
def made():
    return rendering("vase", "bars", images=6, height=48)


@pytest.fixture(scope="module")
def usual(made):
    return anylight.reconstruct(made.capture, shadows="off", order=4)


def test_a_run_without_a_lens_chooses_one_and_warns(made, monkeypatch):
    monkeypatch.setattr(lenses, "LENSES", (50.0, 120.0, 30.0))
    guess = guessed_camera(made.capture.mask.shape).camera
    unknown = replace(made.capture, camera=guess, lens_known=False)
    result = anylight.reconstruct(unknown, shadows="off", order=2)
    lens = result.record["lens"]
    camera = result.reconstruction.camera
    assert isinstance(camera, Perspective)
    ratio = camera.focal_px[0] / guess.focal_px[0]
    assert 50 * ratio == pytest.approx(lens["focal_35mm"], rel=2e-3)
    assert lens["play_deg"] > 0
    (said,) = [warning for warning in result.warnings if "which lens" in warning]
    assert "--distance" in said
    assert f"{lens['focal_35mm']:.0f} mm" in said
    assert max(result.record["gauge"][f"tilt_{a}_deg"] for a in "uv") >= lens["play_deg"] - 0.1


def test_a_run_with_a_lens_tries_no_other(made, usual):
    assert usual.record["lens"] is None
    assert usual.reconstruction.camera == made.capture.camera


def test_a_start_keeps_the_guess_and_says_so(made):
    guess = guessed_camera(made.capture.mask.shape).camera
    unknown = replace(made.capture, camera=guess, lens_known=False, start=made.truth.depth)
    result = anylight.reconstruct(unknown, shadows="off", order=2)
    assert result.record["lens"] is None
    assert result.reconstruction.camera == guess
    assert any("50 mm" in warning and "assumed" in warning for warning in result.warnings)


def test_the_other_shape_can_be_asked_for(made, usual):
    other = anylight.reconstruct(made.capture, shadows="off", order=4, flip=True)
    assert usual.record["chosen"] != other.record["chosen"]
    assert "flipped" in usual.record["chosen"] + other.record["chosen"]
