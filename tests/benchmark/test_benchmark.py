import json
import re

import numpy as np
import pytest
import scipy.io

from anylight.benchmark.catalogue import ALBEDOS, SHAPES, SUPPLEMENT, columns, label_of
from anylight.benchmark.cell import Cell, Outcome, Scene, run_cell, scene_of
from anylight.benchmark.mixing import mix, mixtures, true_normals
from anylight.benchmark.selection import Selection
from anylight.benchmark.store import Store
from anylight.benchmark.tables import as_csv, detailed_table, summary_table
from anylight.cli.main import main
from anylight.errors import InvalidInputError
from anylight.geometry.camera import Perspective
from anylight.intake.load import load_capture
from anylight.io.archive import load_reconstruction
from anylight.io.images import write_image
from anylight.methods import registered
from anylight.model.capture import Capture
from anylight.pipeline import RunOptions
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from tests.cli.short import fails

SMALL = SynthOptions(shape="bust", albedo="white", images=6, height=64)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    scene_of.cache_clear()
    monkeypatch.setenv("ANYLIGHT_BENCH_CACHE", str(tmp_path / "cache"))


def cell(**changes):
    given = {
        "method": "paper",
        "scene": Scene(name="bust_white", synth=SMALL),
        "options": RunOptions(method="paper"),
        "settings": {"volume": 0.1},
    }
    return Cell(**(given | changes))


def record(method, scene, error, status="done"):
    return {
        "key": f"{method}-{scene}",
        "method": method,
        "scene": scene,
        "study": "main",
        "status": status,
        "seconds": 1.0,
        "message": "no lights",
        "metrics": {"mae_deg": error, "mae_flip_deg": error},
    }


def test_the_catalogue_is_four_shapes_by_nine_albedos():
    cells = Selection(SUPPLEMENT).main()
    assert len(cells) == 4 * 9 * len(SUPPLEMENT)
    assert len({c.key for c in cells}) == len(cells)
    assert {c.scene.synth.images for c in cells} == {25}
    assert {c.options.use for c in cells} == {20}
    assert len(ALBEDOS) == 9
    assert len(SHAPES) == 4


def test_every_registered_method_is_a_column():
    assert set(registered()) < set(columns())
    assert label_of("default") == registered()["default"].label
    assert label_of("somebody's own") == "somebody's own"


def test_each_cell_asks_its_method_for_what_the_protocol_grants():
    cells = {c.method: c for c in Selection(SUPPLEMENT, ("lucy",), ("white",)).main()}
    assert cells["paper"].settings == {"volume": 0.08}
    assert cells["peng2017"].settings == {"volume": 0.08}
    assert cells["default"].settings == cells["mo2018"].settings == {}
    assert [name for name, c in cells.items() if c.wants_truth] == ["paper_hemisphere"]
    smooth = [c for c in Selection(("paper",)).studies() if c.study == "smoothness"]
    assert all(c.settings["albedo_smoothness"] == c.value for c in smooth)
    assert all(c.settings["volume"] > 0 for c in smooth)


def test_a_cell_is_known_by_everything_that_changes_it():
    keys = {
        cell().key,
        cell(method="default").key,
        cell(options=RunOptions(method="paper", use=5)).key,
        cell(settings={"volume": 0.2}).key,
        cell(study="volume", value=0.1).key,
    }
    assert len(keys) == 5
    assert cell().key == cell().key


def test_a_cell_gives_numbers_and_pictures_and_the_same_twice(tmp_path):
    first, second = run_cell(cell()), run_cell(cell())
    assert first.record["metrics"] == second.record["metrics"]
    assert first.record["status"] == "done"
    assert first.record["metrics"]["mae_deg"] < 40
    assert first.record["peak_memory_mb"] > 10
    assert {"input", "normals", "truth", "error", "albedo", "true_albedo", "light"} <= set(
        first.pictures
    )
    assert all(png.startswith(b"\x89PNG") for png in first.pictures.values())
    assert str(tmp_path) not in json.dumps(first.record["rendering"])


def test_a_method_that_cannot_run_says_so():
    found = run_cell(cell(method="woodham", options=RunOptions(method="woodham"), settings={}))
    assert found.record["status"] == "cannot"
    assert "light" in found.record["message"]


def test_the_hemisphere_start_uses_the_truth():
    found = run_cell(cell(method="paper_hemisphere", wants_truth=True))
    assert found.record["status"] == "done"


def test_a_damaged_cell_is_run_again_and_a_failed_one_too(tmp_path):
    store, own = Store(tmp_path), cell()
    assert list(store.missing([own])) == [own.key]
    store.keep(own.key, Outcome(record("paper", "a", 1.0) | {"key": own.key}, {}), "", ())
    assert not store.missing([own])
    path = tmp_path / "cells" / f"{own.key}.json"
    path.write_bytes(path.read_bytes()[:50])
    assert list(store.missing([own])) == [own.key]
    store.keep(own.key, None, "out of memory", ())
    assert list(store.missing([own])) == [own.key]


def test_tables_hold_medians_means_and_gaps():
    records = [
        record("paper", "a_white", 1.0),
        record("paper", "a_bars", 2.0),
        record("paper", "b_white", 6.0),
        record("favaro2012", "a_white", 20.0),
        record("favaro2012", "a_bars", None, status="cannot"),
    ]
    summary = summary_table(records, ("favaro2012", "paper"))
    assert f"| {label_of('paper')} | 3 | 2.00 | 3.00 | 6.00 |" in summary
    assert "1 (1 cannot run)" in summary
    detailed = detailed_table(records, ("favaro2012", "paper"))
    assert "| a & bars | – | **2.00** |" in detailed
    assert "| **a: mean** | 20.00 | 1.50 |" in detailed
    assert "| **all: mean** | 20.00 | 3.00 |" in detailed
    assert as_csv(records).count("\n") == 6


def test_mixing_is_linear_and_keeps_the_object(rng):
    photos = rng.integers(0, 60000, (9, 8, 10, 3)).astype(np.uint16)
    capture = Capture(photos, np.ones((8, 10), bool), Perspective((9.0, 9.0), (4.5, 3.5)))
    mixed = mix(capture, 5, seed=3)
    weights = mixtures(9, 5, seed=3)
    assert (weights > 0).all()
    expected = np.tensordot(weights[2], photos.astype(float), 1)
    expected = np.clip(expected / np.quantile(expected, 0.995), 0, 1)
    assert np.allclose(mixed.photos[2] / 65535, expected, atol=2e-4)
    with pytest.raises(InvalidInputError, match="too few"):
        mix(Capture(photos[:4], capture.mask, capture.camera), 5)


@pytest.fixture
def diligent(tmp_path, rng):
    """A DiLiGenT folder of a sphere under ten lamps."""
    folder = tmp_path / "ballPNG"
    folder.mkdir()
    truth = render(SynthOptions(shape="sphere", albedo="white", images=3, height=48)).truth
    normals = np.nan_to_num(truth.normals) * [1.0, -1.0, -1.0]
    lamps = rng.standard_normal((10, 3)) * [0.5, 0.5, 0.1] + [0, 0, 1.2]
    lamps /= np.linalg.norm(lamps, axis=1, keepdims=True)
    names = [f"{k:03d}.png" for k in range(10)]
    for name, lamp in zip(names, lamps, strict=True):
        shade = np.clip(normals @ lamp, 0, 1)[..., None].repeat(3, 2)
        write_image(
            folder / name,
            np.round(60000 * shade).astype(np.uint16),
            {"oiio:ColorSpace": "lin_rec709_scene"},
        )
    write_image(folder / "mask.png", (255 * truth.mask).astype(np.uint8)[..., None])
    (folder / "filenames.txt").write_text("\n".join(names))
    np.savetxt(folder / "light_directions.txt", lamps)
    np.savetxt(folder / "light_intensities.txt", np.ones((10, 3)))
    scipy.io.savemat(folder / "Normal_gt.mat", {"Normal_gt": normals})
    np.savetxt(folder / "K.txt", truth.camera.matrix)
    return folder


def test_a_diligent_folder_joins_the_table_mixed_and_calibrated(diligent):
    selection = Selection(("paper", "woodham"), shapes=(), real=(diligent,))
    paper, woodham = selection.real_cells()
    assert (paper.scene.mixed, woodham.scene.mixed) == (20, 0)
    found = run_cell(woodham).record
    assert found["metrics"]["mae_deg"] < 1.0
    assert run_cell(paper).record["photos"] == 20


def test_mix_writes_a_capture_with_its_truth(diligent, tmp_path):
    out = tmp_path / "mixed"
    assert main(["mix", str(diligent), "--out", str(out), "--images", "6"]) == 0
    assert load_capture(out).num_photos == 6
    assert np.allclose(
        np.nan_to_num(load_reconstruction(out / "truth.npz").normals),
        np.nan_to_num(true_normals(diligent).normals),
        atol=1e-6,
    )


BENCH = ["--shapes", "tennyson", "--albedos", "white", "--height", "48", "--methods", "paper",
         "peng2017"]  # fmt: skip


def test_bench_writes_tables_and_a_page_and_goes_on_where_it_stopped(tmp_path, capsys):
    out = tmp_path / "bench"
    assert main(["bench", "--out", str(out), *BENCH]) == 0
    assert "2 cells, 2 to run" in capsys.readouterr().err
    cells = sorted((out / "cells").glob("*.json"))
    before = {path: path.stat().st_mtime_ns for path in cells}
    assert main(["bench", "--out", str(out), *BENCH, "--jobs", "2"]) == 0
    assert "2 cells, 0 to run" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in cells} == before
    page = (out / "index.html").read_text()
    assert "paper, balloon start" in page
    assert not re.search(r"(src|href)=.https?:", page)
    assert (out / "tables.md").read_text().count("|") > 20
    assert (out / "cells.csv").exists()


def test_processes_give_the_numbers_of_one(tmp_path):
    for name, extra in (("a", []), ("b", ["--jobs", "2"])):
        assert main(["bench", "--out", str(tmp_path / name), *BENCH, *extra]) == 0
    numbers = [
        [
            json.loads(path.read_bytes())["metrics"]
            for path in sorted((tmp_path / n).glob("cells/*"))
        ]
        for n in ("a", "b")
    ]
    for one, other in zip(*numbers, strict=True):
        assert one["mae_deg"] == pytest.approx(other["mae_deg"], abs=0.02)


def test_an_interrupted_cell_is_not_kept(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("anylight.benchmark.cell.reconstruct", interrupted)
    out = tmp_path / "bench"
    with pytest.raises(SystemExit) as caught:
        main(["bench", "--out", str(out), *BENCH])
    assert caught.value.code == 130
    assert not list(out.glob("cells/*"))


def test_unknown_names_are_refused(tmp_path, capsys):
    out = str(tmp_path / "bench")
    fails(capsys, ["bench", "--out", out, "--shapes", "teapot"], "teapot", "armadillo")
    fails(capsys, ["bench", "--out", out, "--methods", "magic"], "magic", "favaro2012")
    fails(capsys, ["bench", "--out", out, "--meshes", str(tmp_path)], "armadillo.ply")


def test_batch_runs_all_and_names_what_failed(tmp_path, capsys):
    good, bad, out = tmp_path / "good", tmp_path / "bad", tmp_path / "out"
    assert main(["synth", "--images", "5", "--height", "48", "--out", str(good)]) == 0
    bad.mkdir()
    arguments = ["batch", str(good), str(bad), "--out", str(out), "--preset", "paper",
                 "--iterations", "2", "--only-result"]  # fmt: skip
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "good: done" in said
    assert "holds 0 photo(s)" in said
    assert (out / "good" / "run.json").exists()
    assert main(arguments) == 2
    assert "2 captures, 1 to run" in capsys.readouterr().err
    arguments[1:3] = [str(good)]
    assert main(arguments) == 0
    assert "1 captures, 0 to run" in capsys.readouterr().err
    assert main([*arguments, "--use", "4"]) == 0
    assert "1 captures, 1 to run" in capsys.readouterr().err


def test_every_method_runs_on_any_capture(tmp_path):
    capture = tmp_path / "bust"
    assert main(["synth", "--images", "8", "--height", "72", "--out", str(capture)]) == 0
    for method in ("favaro2012", "peng2017", "mo2018"):
        out = tmp_path / method
        assert main(["run", str(capture), "--out", str(out), "--method", method]) == 0
        scene = load_reconstruction(out / "result.npz")
        assert np.isfinite(scene.depth[scene.mask]).all()
        assert (out / "mesh.glb").exists()
        assert json.loads((out / "run.json").read_text())["method"] == method


def test_a_start_from_mo2018():
    scene = Scene(
        name="bust", synth=SynthOptions(shape="bust", albedo="white", images=8, height=96)
    )
    found = run_cell(cell(scene=scene, options=RunOptions(method="paper", init="mo2018")))
    assert found.record["status"] == "done"
