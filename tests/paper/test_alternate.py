from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anylight.geometry.camera import Orthographic, Perspective
from anylight.geometry.normals import angles_deg
from anylight.initial.options import BalloonOptions
from anylight.initial.start import balloon_start
from anylight.kernels.order_two.cpu import CpuKernels
from anylight.kernels.order_two.reference import ReferenceKernels
from anylight.model.capture import Capture
from anylight.model.status import Status
from anylight.paper.albedo import update_albedo
from anylight.paper.alternate import alternate, first_state
from anylight.paper.depth import update_depth
from anylight.paper.energy import energy, huber
from anylight.paper.lighting import raise_order, update_lighting
from anylight.paper.options import PaperOptions
from anylight.paper.problem import build_problem
from anylight.paper.state import State
from anylight.photometry.shading import intensity
from anylight.pipeline import reconstruct
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from tests.conftest import odd_mask


def random_case(seed, channels=2, num=5, num_harmonics=9, orthographic=False):
    """Noise for photos over an odd mask, and a state nowhere near a solution."""
    rng = np.random.default_rng(seed)
    mask = odd_mask()
    photos = rng.integers(0, 65535, (num, *mask.shape, channels)).astype(np.uint16)
    camera = Orthographic((8.0, 6.0)) if orthographic else Perspective((30.0, 28.0), (8.0, 6.0))
    problem = build_problem(Capture(photos, mask, camera), PaperOptions(), CpuKernels())
    size = problem.domain.size
    state = State(
        5 + 0.05 * rng.standard_normal(size),
        rng.random((channels, size)) + 0.1,
        0.5 * rng.standard_normal((num, channels, num_harmonics)),
    )
    return problem, state


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1, 3]), st.sampled_from([4, 9]), st.booleans())
def test_no_block_raises_the_energy(seed, channels, num_harmonics, orthographic):
    problem, state = random_case(seed, channels, 4, num_harmonics, orthographic)
    normals, length = problem.normals(state.depth)
    before = energy(problem, state, normals)
    for after in (
        update_albedo(problem, state, normals)[0],
        update_lighting(problem, state, normals),
        update_depth(problem, state, normals, length, before.data)[0],
    ):
        assert energy(problem, after).total <= before.total * (1 + 1e-6)


def test_blocks_change_only_their_own_unknown():
    problem, state = random_case(1)
    normals, length = problem.normals(state.depth)
    albedo, _ = update_albedo(problem, state, normals)
    light = update_lighting(problem, state, normals)
    depth, _ = update_depth(problem, state, normals, length, energy(problem, state).data)
    assert albedo.depth is state.depth
    assert albedo.lighting is state.lighting
    assert light.albedo is state.albedo
    assert depth.lighting is state.lighting
    assert not np.array_equal(depth.depth, state.depth)


def test_the_energy_is_that_of_the_paper():
    problem, state = random_case(2)
    normals, _ = problem.normals(state.depth)
    model = intensity(state.albedo, state.lighting, normals.T)
    rng = np.random.default_rng(2)
    photos = rng.integers(0, 65535, (5, *odd_mask().shape, 2)).astype(np.uint16)
    observed = np.moveaxis(photos[:, odd_mask(), :], 2, 1) * problem.scale
    data = 0.15**2 * np.log1p(((model - observed) / 0.15) ** 2).sum()
    smooth = 0.0
    for channel in state.albedo:
        image = problem.domain.scatter(channel)
        du = np.nan_to_num(np.diff(image, axis=1, append=np.nan))[odd_mask()]
        dv = np.nan_to_num(np.diff(image, axis=0, append=np.nan))[odd_mask()]
        smooth += huber(np.hypot(du, dv), 0.1).sum()
    found = energy(problem, state)
    assert found.data == pytest.approx(data, rel=1e-6)
    assert found.smoothness == pytest.approx(0.045 * 5 * smooth, rel=1e-9)


def test_huber():
    assert np.allclose(huber(np.array([0.0, 0.05, 0.1, 0.5]), 0.1), [0, 0.0125, 0.05, 0.45])


def test_raising_the_order_changes_nothing_yet():
    problem, state = random_case(3, num_harmonics=4)
    raised = raise_order(state, 9)
    assert raised.lighting.shape[2] == 9
    assert energy(problem, raised).total == pytest.approx(energy(problem, state).total, rel=1e-7)


@pytest.fixture(scope="module")
def scene():
    return render(
        SynthOptions(shape="vase", albedo="bars", protocol="depth", stencil="forward",
                     images=8, height=80)
    )  # fmt: skip


def balloon_of(problem):
    return balloon_start(problem.camera, problem.domain, BalloonOptions(volume=0.12)).depth


def second_order_capture(scene, num=8):
    """Photos that order two explains exactly, as the solver differentiates depth."""
    truth = scene.truth
    problem = build_problem(scene.capture, PaperOptions(), CpuKernels())
    depth = problem.domain.gather(truth.depth)
    normals, _ = problem.normals(depth)
    albedo = problem.domain.gather(truth.albedo).T
    lighting = truth.lighting[:num, :, :9]
    values = np.maximum(intensity(albedo, lighting, normals.T), 0)
    photos = np.zeros((num, *truth.mask.shape, 3), np.float32)
    photos[:, truth.mask, :] = np.moveaxis(values, 1, 2)
    return Capture(photos, np.array(truth.mask), truth.camera), depth, albedo, lighting


def test_the_truth_stays_the_truth(scene):
    capture, depth, albedo, lighting = second_order_capture(scene)
    options = PaperOptions(albedo_smoothness=0.0, first_order_iterations=0, iterations=5)
    problem = build_problem(capture, options, CpuKernels())
    state = State(depth / depth.mean(), albedo * problem.scale, lighting.copy())
    before, _ = problem.normals(state.depth)
    *_, (last, _) = alternate(problem, state)
    after, _ = problem.normals(last.depth)
    assert angles_deg(after.T, before.T).mean() < 0.2


def test_energy_never_rises_in_a_run(scene):
    problem = build_problem(scene.capture, PaperOptions(), CpuKernels())
    state = first_state(problem, balloon_of(problem))
    totals, jumps = [], []
    for _, report in alternate(problem, state):
        totals += [report.after_albedo, report.after_lighting, report.energy]
        jumps.append(report.order)
    assert jumps == [1] * 8 + [2] * 12
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(totals))


def test_both_backends_walk_the_same_way(scene):
    options = PaperOptions(iterations=4, first_order_iterations=2)
    ends = []
    for kernels in (CpuKernels(), ReferenceKernels()):
        problem = build_problem(scene.capture, options, kernels)
        state = first_state(problem, balloon_of(problem))
        steps = list(alternate(problem, state))
        energies = [report.energy for _, report in steps]
        ends.append((energies, problem.normals(steps[-1][0].depth)[0]))
    assert np.allclose(ends[0][0], ends[1][0], rtol=1e-3)
    assert angles_deg(ends[0][1].T, ends[1][1].T).mean() < 0.3


NUMBERS = {"iterations": 6, "first_order_iterations": 3}
QUICK = {"preset": "paper", "volume": 0.12, **NUMBERS}


def test_a_run_improves_on_its_balloon(scene):
    result = reconstruct(scene.capture, preset="paper", volume=0.12)
    mask = scene.truth.mask
    problem = build_problem(scene.capture, PaperOptions(), CpuKernels())
    start, _ = problem.normals(balloon_of(problem))
    before = angles_deg(start.T, scene.truth.normals[mask]).mean()
    after = angles_deg(result.reconstruction.normals[mask], scene.truth.normals[mask]).mean()
    assert result.status is Status.ITERATION_LIMIT
    assert after < 0.7 * before
    assert result.reconstruction.albedo[mask].max() == pytest.approx(1)
    assert result.reconstruction.albedo[mask].min() >= 0


def test_image_scale_moves_into_the_light(scene):
    dim = Capture(
        (scene.capture.photos / 65535 / 4).astype(np.float32),
        scene.capture.mask,
        scene.capture.camera,
    )
    bright = Capture(
        (scene.capture.photos / 65535).astype(np.float32), scene.capture.mask, scene.capture.camera
    )
    a, b = (reconstruct(capture, **QUICK).reconstruction for capture in (dim, bright))
    mask = a.mask
    assert angles_deg(a.normals[mask], b.normals[mask]).max() < 0.05
    assert np.allclose(4 * a.lighting, b.lighting, rtol=1e-3, atol=1e-3 * np.abs(b.lighting).max())


def test_grey_is_colour_with_equal_channels(scene):
    grey = np.ascontiguousarray(scene.capture.photos[..., :1])
    one = Capture(grey, scene.capture.mask, scene.capture.camera)
    three = Capture(np.repeat(grey, 3, axis=3), scene.capture.mask, scene.capture.camera)
    a, b = (reconstruct(capture, **QUICK).reconstruction for capture in (one, three))
    assert angles_deg(a.normals[a.mask], b.normals[a.mask]).mean() < 0.1


def test_the_frame_around_the_mask_does_not_matter(scene):
    photos, mask, camera = scene.capture.photos, scene.capture.mask, scene.capture.camera
    wide = np.pad(photos, ((0, 0), (7, 5), (3, 11), (0, 0)))
    (u0, v0) = camera.centre_px
    moved = replace(camera, centre_px=(u0 + 3, v0 + 7))
    a = reconstruct(scene.capture, **QUICK).reconstruction
    b = reconstruct(Capture(wide, np.pad(mask, ((7, 5), (3, 11))), moved), **QUICK).reconstruction
    assert np.array_equal(a.depth[a.mask], b.depth[b.mask])
    assert np.array_equal(a.lighting, b.lighting)


def test_runs_repeat_to_the_bit(scene):
    a, b = (reconstruct(scene.capture, **QUICK).reconstruction for _ in range(2))
    assert np.array_equal(a.depth, b.depth, equal_nan=True)
    assert np.array_equal(a.albedo, b.albedo, equal_nan=True)


def test_threads_change_next_to_nothing(scene):
    a, b = (
        reconstruct(scene.capture, threads=threads, **QUICK).reconstruction for threads in (1, None)
    )
    assert angles_deg(a.normals[a.mask], b.normals[a.mask]).max() < 0.05


def test_the_depth_scale_of_a_start_does_not_matter(scene):
    problem = build_problem(scene.capture, PaperOptions(**NUMBERS), CpuKernels())
    depth = balloon_of(problem)
    ends = []
    for scale in (1.0, 7.0):
        *_, (last, _) = alternate(problem, first_state(problem, scale * depth))
        ends.append(last.depth / scale)
    assert np.allclose(*ends, rtol=1e-4)
