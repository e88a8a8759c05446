import numpy as np
import pytest

from anylight.kernels.pixel_differences import assemble, neighbours, scatter
from anylight.linalg import multigrid, stencil
from anylight.linalg.grid import Grid
from anylight.linalg.multigrid import Multigrid, Stencil, coarsen
from anylight.linalg.pcg import jacobi, pcg
from tests.conftest import odd_mask


def random_form(rng, size):
    """A positive definite 3×3 block per pixel."""
    root = rng.standard_normal((size, 3, 3))
    block = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(3)
    return np.stack([block[:, a, b] for a in range(3) for b in range(a, 3)])


def difference_matrices(grid, near):
    """[1; D_u; D_v] as dense matrices over the flat grid."""
    num, size = len(near.here), grid.inside.size
    rows = np.arange(num)
    one, along_u, along_v = (np.zeros((num, size)) for _ in range(3))
    one[rows, near.here] = 1
    for matrix, ahead, sign in (
        (along_u, near.along_u, near.sign_u), (along_v, near.along_v, near.sign_v)
    ):  # fmt: skip
        np.add.at(matrix, (rows, ahead), sign)
        np.add.at(matrix, (rows, near.here), -sign)
    return one, along_u, along_v


@pytest.mark.twin("kernels.pixel_differences._assemble", "kernels.pixel_differences._scatter")
@pytest.mark.parametrize("backward", [True, False])
def test_assembly_is_the_product_of_its_factors(rng, backward):
    grid = Grid(odd_mask())
    near = neighbours(grid.inside, backward)
    form = random_form(rng, len(near.here))
    d = difference_matrices(grid, near)
    pairs = [(a, b) for a in range(3) for b in range(a, 3)]
    expected = sum(
        (d[a].T * row) @ d[b] + (0 if a == b else (d[b].T * row) @ d[a])
        for row, (a, b) in zip(form, pairs, strict=True)
    )
    assert np.allclose(assemble(form, near, grid.shape).dense(), expected)
    gradient = rng.standard_normal((3, len(near.here)))
    adjoint = sum(d[a].T @ gradient[a] for a in range(3))
    assert np.allclose(scatter(gradient, near, grid.shape).ravel(), adjoint)


def operator(rng, mask, backward=True):
    grid = Grid(mask)
    near = neighbours(grid.inside, backward)
    return assemble(random_form(rng, len(near.here)), near, grid.shape)


@pytest.mark.twin(
    "linalg.stencil._multiply",
    "linalg.stencil._row",
    "linalg.stencil._sweep",
    "linalg.stencil._dot",
    "linalg.stencil._advance",
    "linalg.stencil.combine",
)
def test_compiled_loops_against_the_dense_matrix(rng):
    a = operator(rng, odd_mask())
    inside = Grid(odd_mask()).inside
    x, b = (np.where(inside, rng.standard_normal(inside.shape), 0.0) for _ in range(2))
    y, r, out = (np.zeros_like(x) for _ in range(3))
    dense = (a.dense() @ x.ravel()).reshape(x.shape)
    product = stencil.multiply(*a, x, y)
    assert np.allclose(y, dense)
    assert np.isclose(product, (x * dense).sum())
    damped = np.where(inside & (rng.random(inside.shape) < 0.8), 0.3, 0.0)
    stencil.residual(*a, x, b, damped, r)
    assert np.allclose(r, np.where(damped > 0, b - dense, 0))
    stencil.relax(*a, x, b, damped, out)
    assert np.allclose(out, x + damped * (b - dense))
    assert np.isclose(stencil.dot(x, b), (x * b).sum())
    moved, left = x.copy(), b.copy()
    square = stencil.advance(0.7, b, dense, moved, left)
    assert np.allclose(moved, x + 0.7 * b)
    assert np.allclose(left, b - 0.7 * dense)
    assert np.isclose(square, (left**2).sum())
    mixed = b.copy()
    stencil.combine(x, 0.3, mixed)
    assert np.allclose(mixed, x + 0.3 * b)


def pulls(matrix, shape, axis):
    """How strongly every node is coupled to the line before it and the line after it."""
    couplings = matrix.reshape(*shape, *shape)
    found = np.zeros((2, *shape))
    for i, j in np.ndindex(*shape):
        line = couplings[i, j].sum(axis=1 - axis)
        for which, place in enumerate(((i, j)[axis] - 1, (i, j)[axis] + 1)):
            if 0 <= place < len(line):
                found[which, i, j] = max(-line[place], 0)
    return found


def interpolation(matrix, shape, axis):
    """Nodes follow the coarse lines around them as they are coupled to each; lines 2I − 1 stay."""
    before, after = pulls(matrix, shape, axis)
    both = before + after
    share = np.divide(before, both, out=np.full(shape, 0.5), where=both > 0)
    coarse = list(shape)
    coarse[axis] = (shape[axis] - 2) // 2 + 3
    weights = np.zeros((*shape, *coarse))
    for i, j in np.ndindex(*shape):
        place = (i, j)[axis]
        parts = [(place // 2, share[i, j]), (place // 2 + 1, 1 - share[i, j])]
        for big, part in parts if place % 2 == 0 else [((place + 1) // 2, 1.0)]:
            if 1 <= big < coarse[axis] - 1:
                weights[(i, j, big, j) if axis == 0 else (i, j, i, big)] = part
    return weights.reshape(np.prod(shape), -1), tuple(coarse)


@pytest.mark.twin(
    "linalg.stencil.share_columns",
    "linalg.stencil.share_rows",
    "linalg.stencil.coarsen_columns",
    "linalg.stencil.coarsen_rows",
    "linalg.stencil.restrict",
    "linalg.stencil._given",
    "linalg.stencil.prolong",
)
@pytest.mark.parametrize("shape", [(7, 9), (8, 6), (11, 12), (1, 5), (2, 2)])
def test_coarse_operators_are_galerkin_products(rng, shape):
    mask = rng.random(shape) < 0.8
    mask[0, 0] = mask[-1, -1] = True
    a = operator(rng, mask)
    coarse, (left, up) = coarsen(a)
    over_columns, narrow = interpolation(a.dense(), a.centre.shape, axis=1)
    between = over_columns.T @ a.dense() @ over_columns
    over_rows, _ = interpolation(between, narrow, axis=0)
    p = over_columns @ over_rows
    assert np.allclose(p.T @ a.dense() @ p, coarse.dense())
    inside = (a.centre > 0).astype(float)
    fine = inside * rng.standard_normal(a.centre.shape)
    small = np.pad(rng.standard_normal(tuple(s - 2 for s in coarse.centre.shape)), 1)
    restricted, prolonged = np.zeros_like(small), np.zeros_like(fine)
    stencil.restrict(fine, left, up, restricted)
    stencil.prolong(small, inside, left, up, prolonged)
    assert np.allclose(restricted.ravel(), p.T @ fine.ravel())
    assert np.allclose(prolonged.ravel(), inside.ravel() * (p @ small.ravel()))


def test_pieces_that_hardly_touch_are_solved_as_well_as_one(rng):
    mask = np.ones((80, 90), bool)
    grid = Grid(mask)
    near = neighbours(grid.inside, backward=False)
    form = np.zeros((6, len(near.here)))
    form[0], form[3], form[5] = 1e-6, 1, 1
    rows, columns = np.nonzero(mask)
    cut = (columns - rows // 2 == 20) | (rows == 51)
    form[:, cut] *= 1e-6
    form[0] = 1e-6
    a = assemble(form, near, grid.shape)
    source = np.where(a.centre > 0, rng.standard_normal(a.centre.shape), 0)
    found = pcg(a, source, Multigrid(a), 1e-6)
    assert found.relative_residual <= 1e-6
    assert found.iterations <= 25


@pytest.mark.twin("linalg.stencil.pace", "linalg.stencil.scale")
def test_jacobi_divides_by_the_diagonal_or_half_the_row(rng):
    a = operator(rng, odd_mask())
    dense = a.dense()
    damped, x = np.zeros((2, *a.centre.shape))
    least = 0.3 * a.centre.max()
    stencil.pace(*a, least, 0.8, 1.9, damped)
    sums = np.abs(dense).sum(axis=1).reshape(a.centre.shape)
    active = a.centre > least
    slowness = np.maximum(a.centre / 0.8, sums / 1.9)
    assert 0 < active.sum() < active.size
    assert np.allclose(damped[active], 1 / slowness[active])
    assert not damped[~active].any()
    b = rng.standard_normal(a.centre.shape)
    stencil.scale(damped, b, x)
    assert np.array_equal(x, damped * b)


@pytest.mark.twin("linalg.stencil.alternate")
def test_signs_alternate_like_the_fields_of_a_chess_board(rng):
    x, out = rng.standard_normal((2, 5, 6))
    rows, columns = np.indices(x.shape)
    wanted = 0.3 * out + np.where((rows + columns) % 2, -x, x)
    stencil.alternate(x, 0.3, out)
    assert np.allclose(out, wanted)


@pytest.mark.twin("linalg.stencil.add")
def test_amounts_of_grids_are_added(rng):
    amounts, grids = rng.standard_normal(3), rng.standard_normal((3, 8, 9))
    start = rng.standard_normal((8, 9))
    out = start.copy()
    stencil.add(amounts, grids, out)
    assert np.allclose(out, start + np.einsum("k,kij->ij", amounts, grids))


@pytest.mark.twin("linalg.stencil._dots")
def test_products_with_several_grids(rng):
    field, grids = rng.standard_normal((8, 9)), rng.standard_normal((3, 8, 9))
    assert np.allclose(stencil.dots(field, grids), np.einsum("ij,kij->k", field, grids))


def test_rounding_below_zero_is_no_direction_to_answer_to(rng):
    axes = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    found = multigrid._inverse((axes * [-1e-3, 1e-7, 2, 5]) @ axes.T)
    assert np.allclose(found, (axes * [0, 0, 0.5, 0.2]) @ axes.T)


@pytest.mark.twin("linalg.stencil.cycle", "linalg.stencil._grids")
@pytest.mark.parametrize("alone", [150, 10_000])
def test_levels_in_one_compiled_call_do_as_those_apart(rng, monkeypatch, alone):
    a = operator(rng, rng.random((60, 71)) < 0.9)
    source = np.where(a.centre > 0, rng.standard_normal(a.centre.shape), 0).astype(np.float32)
    monkeypatch.setattr(multigrid, "_ALONE", multigrid._SMALLEST)
    apart = Multigrid(a)(source).copy()
    monkeypatch.setattr(multigrid, "_ALONE", alone)
    together = Multigrid(a)(source)
    assert np.allclose(together, apart, rtol=1e-5, atol=1e-6 * np.abs(apart).max())


def laplacian(mask, pin=1e-6):
    grid = Grid(mask)
    near = neighbours(grid.inside, backward=False)
    form = np.zeros((6, len(near.here)))
    form[3] = form[5] = 1.0
    form[0] = pin
    return assemble(form, near, grid.shape), grid


def test_the_cycle_is_symmetric_and_positive(rng):
    a, grid = laplacian(np.ones((40, 57), bool), 1e-3)
    cycle = Multigrid(a)
    x, y = (np.where(grid.inside, rng.standard_normal(grid.shape), 0.0) for _ in range(2))
    xy, yx = float((cycle(x) * y).sum()), float((cycle(y) * x).sum())
    assert xy == pytest.approx(yx, rel=1e-3, abs=1e-2)
    assert float((cycle(x) * x).sum()) > 0


def disc_with_hole(size):
    v, u = np.mgrid[:size, :size] - size / 2
    return (np.hypot(u, v) < 0.45 * size) & (np.hypot(u - size / 8, v) > 0.1 * size)


def test_iterations_do_not_grow_with_the_grid(rng):
    steps = []
    for size in (64, 128, 256, 512):
        a, grid = laplacian(disc_with_hole(size))
        b = np.where(grid.inside, rng.standard_normal(grid.shape), 0.0)
        solve = pcg(a, b, Multigrid(a), 1e-6)
        assert solve.relative_residual <= 1e-6
        steps.append(solve.iterations)
    assert max(steps) <= 16
    assert max(steps) - min(steps) <= 4


@pytest.mark.parametrize("mask", [odd_mask(), np.ones((1, 1), bool), np.ones((1, 300), bool)])
@pytest.mark.parametrize("kind", ["multigrid", "jacobi"])
def test_solutions_against_a_direct_solver(rng, mask, kind):
    a = operator(rng, mask)
    inside = Grid(mask).inside
    b = np.where(inside, rng.standard_normal(inside.shape), 0.0)
    precondition = Multigrid(a) if kind == "multigrid" else jacobi(a)
    solve = pcg(a, b, precondition, 1e-10, 2000)
    exact = np.linalg.lstsq(a.dense(), b.ravel(), rcond=None)[0].reshape(b.shape)
    assert np.allclose(solve.solution, exact, atol=1e-6 * np.abs(exact).max())


def test_a_good_start_costs_nothing(rng):
    a, grid = laplacian(odd_mask(), 0.1)
    b = np.where(grid.inside, rng.standard_normal(grid.shape), 0.0)
    solution = pcg(a, b, jacobi(a), 1e-12, 500).solution
    assert pcg(a, b, jacobi(a), 1e-8, 500, solution).iterations == 0
    assert pcg(a, 0 * b, jacobi(a), 1e-8).iterations == 0


def test_dense_is_symmetric(rng):
    dense = operator(rng, odd_mask()).dense()
    assert np.array_equal(dense, dense.T)
    assert isinstance(operator(rng, odd_mask()).astype(np.float32), Stencil)
