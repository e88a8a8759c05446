"""The compiled passes against plain NumPy, and derivatives against finite differences."""

import numpy as np
import pytest

from anylight.kernels import elimination
from anylight.kernels.monomials import (
    EVERYWHERE,
    TILE,
    basis,
    flat,
    near_basis,
    num_tiles,
    place_fields,
)

CHANNELS, EACH = 3, 5
CAMERA = (30.0, 32.0, 10.2, 8.4)
NUM = elimination.PASS + TILE + 40


def project(rows, direction):
    unit = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    return rows - unit * (rows * unit).sum(axis=-1, keepdims=True)


def split(array):
    return array.reshape(len(array), CHANNELS, EACH).astype(float)


class Scene:
    """Random normals, turns and light, and what plain NumPy makes of them."""

    def __init__(self, rng, near, num=NUM):
        self.own = near_basis(4, 0.4) if near else basis(4)
        self.camera, self.pixels = CAMERA, rng.integers(0, 20, (num, 2)).astype(np.int32)
        tilts = np.zeros((2, 3, num))
        tilts[0, 0], tilts[1, 1] = CAMERA[:2]
        tilts[:, 2] = np.array(CAMERA[2:])[:, None] - self.pixels.T
        slopes = 0.05 * rng.standard_normal((2, num))
        tilted = (slopes[:, None] * tilts).sum(axis=0) - [[0], [0], [1]]
        self.length = np.linalg.norm(tilted, axis=0)
        self.unit = tilted / self.length
        self.turns = np.stack([project(turn.T, self.unit.T).T / self.length for turn in tilts])
        places = rng.uniform(-0.4, 0.4, (num, 3))
        self.places = place_fields(places) if near else EVERYWHERE
        self.light = rng.standard_normal((CHANNELS * EACH, self.own.size))
        self.numbers = rng.integers(6000, 32767, (num, CHANNELS * EACH), np.int16)
        self.scale = rng.uniform(1e-5, 4e-5, num).astype(np.float32)
        self.photos = self.numbers * self.scale[:, None].astype(float)
        self.weight = rng.random(num).astype(np.float32)
        self.albedo = rng.random((num, CHANNELS)).astype(np.float32)

    def at(self):
        unit, length, light = (
            np.ascontiguousarray(part, np.float32) for part in (self.unit, self.length, self.light)
        )
        view = (self.camera, self.pixels)
        fields = (self.own.fields, self.places)
        return self.own.exponents, unit, length, *view, *fields, light, self.numbers, self.scale

    def terms(self, unit=None):
        unit = self.unit if unit is None else unit
        table = np.prod(unit.T[:, None, :] ** self.own.exponents, axis=2)
        if len(self.own.fields):
            values = np.concatenate([np.ones((1, len(table))), self.places])
            table = table * values[self.own.fields].T
        return table

    def shades(self, step=1e-6):
        values = [self.terms() @ self.light.T]
        for turn in self.turns:
            ahead, behind = (self.terms(self.unit + s * turn) for s in (step, -step))
            values.append((ahead - behind) @ self.light.T / (2 * step))
        return values

    def linearised(self, gather=True, keep=True):
        num, size = len(self.photos), self.own.size
        blocks, slope = np.empty((3, num), np.float32), np.empty((2, num), np.float32)
        passes, tiles = elimination.num_passes(num), num_tiles(num)
        gathered = np.full((passes if gather else 0, size, CHANNELS * EACH), np.nan, np.float32)
        terms = np.empty((tiles if keep else 0, size, TILE), np.float32)
        shades = np.empty((tiles if keep else 0, 3, CHANNELS * EACH, TILE), np.float32)
        elimination.linearise(
            *self.at(), self.weight, CHANNELS, self.albedo, blocks, slope, gathered, terms, shades
        )
        return blocks, slope, elimination.summed(gathered), terms, shades


@pytest.fixture(params=[False, True], ids=["far lamps", "near lamps"])
def scene(rng, request):
    return Scene(rng, request.param)


def near_enough(found, wanted):
    return np.allclose(found, wanted, rtol=2e-3, atol=2e-3 * np.abs(wanted).mean())


@pytest.mark.twin(
    "kernels.elimination.residuals", "kernels.elimination.fit_tile",
    "kernels.elimination._load_photo",
)  # fmt: skip
def test_the_albedo_is_best_and_the_residual_perpendicular(scene):
    num = len(scene.photos)
    albedo, misfit = np.empty((num, CHANNELS), np.float32), np.empty(num, np.float32)
    exponents, unit, _, _, _, *rest = scene.at()
    elimination.residuals(exponents, unit, *rest, CHANNELS, albedo, misfit)
    shading, photos = split(scene.shades()[0]), split(scene.photos)
    wanted = np.maximum((photos * shading).sum(-1) / (shading**2).sum(-1), 0)
    assert np.allclose(albedo, wanted, rtol=1e-3, atol=1e-4)
    left = wanted[..., None] * shading - photos
    assert np.allclose(misfit, (left**2).sum((1, 2)), rtol=1e-3, atol=1e-4)
    assert np.allclose((left * shading).sum(-1)[wanted > 0], 0, atol=1e-9)


@pytest.mark.twin(
    "kernels.elimination._passes", "kernels.elimination.linearise_tile",
    "kernels.elimination.shade_tile", "kernels.elimination._clear", "kernels.elimination._copy",
    "kernels.elimination._add", "kernels.elimination._turn_tile",
)  # fmt: skip
def test_blocks_and_gradient_are_those_of_the_projected_derivatives(scene):
    blocks, slope, light, terms, shades = scene.linearised()
    shading, *moves = (split(part) for part in scene.shades())
    rho, weight = scene.albedo[..., None].astype(float), scene.weight
    bent = [rho * project(move, shading) for move in moves]
    left = rho * shading - split(scene.photos)
    for found, (a, b) in zip(blocks, ((0, 0), (0, 1), (1, 1)), strict=True):
        assert near_enough(found, weight * (bent[a] * bent[b]).sum((1, 2)))
    for found, move in zip(slope, moves, strict=True):
        assert near_enough(found, weight * (rho * move * left).sum((1, 2)))
    source = (weight[:, None, None] * rho * left).reshape(len(left), -1)
    assert near_enough(light, scene.terms().T @ source)
    num = len(scene.photos)
    assert near_enough(flat(terms, num).T, scene.terms())
    for k, wanted in enumerate(scene.shades()):
        assert near_enough(flat(shades[:, k], num).T, wanted)


def test_the_gradient_is_the_derivative_of_the_misfit(rng):
    scene = Scene(rng, near=False, num=300)
    scene.weight[:] = 1

    def misfit(step):
        unit = scene.unit + step * scene.turns[0]
        moved, photos = split(scene.terms(unit) @ scene.light.T), split(scene.photos)
        rho = (photos * moved).sum(-1, keepdims=True) / (moved**2).sum(-1, keepdims=True)
        return ((rho * moved - photos) ** 2).sum((1, 2))

    shading, photos = split(scene.shades()[0]), split(scene.photos)
    best = (photos * shading).sum(-1) / (shading**2).sum(-1)
    scene.albedo = best.astype(np.float32)
    slope = scene.linearised(gather=False, keep=False)[1]
    assert near_enough(2 * slope[0], (misfit(1e-5) - misfit(-1e-5)) / 2e-5)


@pytest.mark.twin("kernels.elimination._passes", "kernels.elimination._product_tile")
@pytest.mark.parametrize("keep", [True, False])
def test_the_normal_product_is_the_normal_matrix(scene, rng, keep):
    *_, terms, shades = scene.linearised(keep=keep)
    change = rng.standard_normal(scene.light.shape)
    p, q = rng.standard_normal((2, len(scene.photos))).astype(np.float32)
    slope = np.stack([p, q])  # also where the answer goes
    passes = elimination.num_passes(len(p))
    gathered = np.full((passes, scene.own.size, len(change)), np.nan, np.float32)
    elimination.normal_product(
        *scene.at(), scene.weight, CHANNELS, scene.albedo, terms, shades,
        change.astype(np.float32), *slope, slope, gathered,
    )  # fmt: skip
    shading, by_p, by_q = (split(part) for part in scene.shades())
    moved = split(scene.terms() @ change.T)
    moved += p[:, None, None] * by_p + q[:, None, None] * by_q
    strength = scene.weight[:, None, None] * scene.albedo[..., None].astype(float) ** 2
    moved = strength * project(moved, shading)
    for found, by in zip(slope, (by_p, by_q), strict=True):
        assert near_enough(found, (by * moved).sum((1, 2)))
    assert near_enough(elimination.summed(gathered), scene.terms().T @ moved.reshape(len(p), -1))


def test_results_do_not_depend_on_where_arrays_lie(rng):
    scene = Scene(rng, near=False, num=700)
    first, seen = scene.linearised(), []
    for _ in range(30):
        seen.append(np.empty(rng.integers(1, 9000), np.float32))
        scene.weight, scene.albedo = scene.weight.copy(), scene.albedo.copy()
        again = scene.linearised()
        assert all(np.array_equal(a, b) for a, b in zip(first[:3], again[:3], strict=True))


@pytest.mark.twin("kernels.elimination._summed")
def test_sums_over_passes_are_exact(rng):
    gathered = rng.standard_normal((137, 21, 12)).astype(np.float32)
    assert np.allclose(elimination.summed(gathered), gathered.sum(axis=0, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("num", [1, TILE, 100 * TILE + 3, 129 * TILE, 5000 * TILE])
def test_passes_hold_every_tile_once(num):
    passes = elimination.passes(num)
    assert np.array_equal(
        np.concatenate([np.arange(*own) for own in passes]), range(num_tiles(num))
    )
    assert np.diff(passes).max() * TILE <= elimination.PASS
