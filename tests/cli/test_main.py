import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from anylight.cli.main import main
from anylight.intake.load import load_capture
from anylight.io.archive import load_reconstruction, save_reconstruction
from tests.cli.short import fails

SMALL = ["--images", "3", "--height", "40"]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "vase"
    assert main(["synth", "--shape", "vase", *SMALL, "--out", str(folder)]) == 0
    return folder


def test_synth_writes_a_capture_with_its_truth(rendered):
    names = sorted(path.name for path in rendered.iterdir())
    assert names == [
        "K.txt", "capture.toml", "mask.png", "photo_00.png", "photo_01.png", "photo_02.png",
        "preview", "truth.npz",
    ]  # fmt: skip
    capture = load_capture(rendered)
    truth = load_reconstruction(rendered / "truth.npz")
    assert capture.photos.dtype == np.uint16
    assert np.array_equal(capture.mask, truth.mask)
    assert capture.camera == truth.camera
    assert 'transfer = "linear"' in (rendered / "capture.toml").read_text()
    assert truth.lighting.shape == (3, 3, 31)


def test_without_notes_the_folder_reads_the_same(rendered, tmp_path):
    for path in rendered.iterdir():
        if path.is_file() and path.name != "capture.toml":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert np.array_equal(load_capture(tmp_path).photos, load_capture(rendered).photos)


@pytest.mark.parametrize("extra", [[], ["--cast-shadows", "--noise", "0.01", "--bits", "8"]])
def test_same_arguments_same_bytes(tmp_path, extra):
    arguments = ["synth", "--shape", "rings", "--albedo", "ebsd", *SMALL, *extra]
    for name in ("a", "b"):
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
    files = [p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file()]
    assert len(files) == 9
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_synth_replaces_its_own_folder_only(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["synth", "--shape", "sphere", *SMALL, "--out", str(out)]
    assert main(arguments) == 0
    assert main(arguments) == 0
    (out / "notes.txt").write_text("mine")
    fails(capsys, arguments, "notes.txt", "other files")
    assert (out / "notes.txt").read_text() == "mine"


def test_eval_of_the_truth_is_perfect(rendered, capsys):
    assert main(["eval", str(rendered / "truth.npz"), "--truth", str(rendered), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert list(numbers) == [
        "mae_deg", "median_deg", "mae_flip_deg", "mae_fd_deg", "mae_fd_flip_deg", "coverage",
        "depth_rmse", "albedo_rmse", "lighting_error",
    ]  # fmt: skip
    assert numbers.pop("coverage") == 1
    assert all(abs(value) < 1e-6 for value in numbers.values())


def test_eval_of_a_result_folder_prints_a_table(rendered, tmp_path, capsys):
    save_reconstruction(tmp_path / "result.npz", load_reconstruction(rendered / "truth.npz"))
    assert main(["eval", str(tmp_path), "--truth", str(rendered / "truth.npz")]) == 0
    assert "mae_deg" in capsys.readouterr().out


def test_eval_says_null_for_what_is_unknown(rendered, tmp_path, capsys):
    truth = load_reconstruction(rendered / "truth.npz")
    np.savez(tmp_path / "result.npz", mask=truth.mask, normals=truth.normals)
    assert main(["eval", str(tmp_path), "--truth", str(rendered), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["depth_rmse"] is None
    assert numbers["mae_deg"] < 1e-6


@pytest.mark.parametrize("command", [[], ["synth"], ["eval"]])
def test_help_teaches(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "anylight" in text
    if command == ["synth"]:
        for option in ("--shape", "--albedo", "--lights", "--protocol", "--stencil", "--focal",
                       "--cast-shadows", "--orthographic", "--supersample", "--noise"):  # fmt: skip
            assert option in text


@pytest.mark.parametrize(
    "arguments",
    [[], ["dance"], ["synth"], ["synth", "--out", "x", "--bits", "12"],
     ["synth", "--out", "x", "--albedo", "lena"]],
)  # fmt: skip
def test_words_that_are_off_end_with_code_two(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_bad_shapes(tmp_path, capsys):
    out = str(tmp_path / "out")
    (tmp_path / "bad.ply").write_text("ply\nnonsense")
    (tmp_path / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
    (tmp_path / "photo.jpeg").write_text("x")
    for shape, word in [
        ("teapot", "embedded shape"),
        (str(tmp_path / "none.ply"), "no such file"),
        (str(tmp_path / "bad.ply"), "bad.ply"),
        (str(tmp_path / "points.obj"), "points.obj"),
        (str(tmp_path / "photo.jpeg"), "not a mesh"),
    ]:
        fails(capsys, ["synth", "--shape", shape, *SMALL, "--out", out], word)
        assert not (tmp_path / "out").exists()
        assert not list(tmp_path.glob(".out*"))


def test_bad_lights(tmp_path, capsys):
    fails(
        capsys,
        ["synth", "--lights", str(tmp_path / "nowhere"), *SMALL, "--out", str(tmp_path / "o")],
        "nowhere",
    )


def test_bad_outputs(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    fails(capsys, ["synth", *SMALL, "--out", str(tmp_path / "file")], "is a file")
    fails(capsys, ["synth", *SMALL, "--out", str(tmp_path / "file" / "x")], "cannot be written")
    assert (tmp_path / "file").read_text() == "mine"


def test_bad_numbers(tmp_path, capsys):
    fails(capsys, ["synth", "--images", "2", "--out", str(tmp_path / "o")], "--images")
    fails(capsys, ["synth", "--focal", "nan", "--out", str(tmp_path / "o")], "--focal")


def test_bad_evaluations(rendered, tmp_path, capsys):
    truth = ["--truth", str(rendered)]
    fails(capsys, ["eval", str(tmp_path), *truth], "result.npz", "no such file")
    fails(capsys, ["eval", str(tmp_path / "nowhere"), *truth], "nowhere")
    (tmp_path / "result.npz").write_text("not a zip")
    fails(capsys, ["eval", str(tmp_path), *truth], "result.npz")
    np.savez(tmp_path / "result.npz", mask=np.ones((3, 3), bool))
    fails(capsys, ["eval", str(tmp_path), *truth], "full input grid")
    fails(capsys, ["eval", str(rendered / "truth.npz"), "--truth", str(tmp_path.parent)], "neither")


def test_the_installed_program_fails_in_one_line(tmp_path):
    program = [sys.executable, "-m", "anylight.cli.main"]
    run = subprocess.run(
        [*program, "eval", str(tmp_path), "--truth", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("anylight ")


def test_paths_are_not_markup(tmp_path, capsys):
    out = tmp_path / "a[/b] :smile: [red]c"
    assert main(["synth", "--shape", "sphere", *SMALL, "--out", str(out)]) == 0
    assert "a[/b] :smile: [red]c" in capsys.readouterr().err


def test_synth_keeps_a_users_own_capture(tmp_path, capsys):
    for name in ("photo_01.png", "photo_02.png", "mask.png", "K.txt"):
        (tmp_path / name).write_text("mine")
    fails(capsys, ["synth", *SMALL, "--out", str(tmp_path)], "other files")
    assert (tmp_path / "photo_01.png").read_text() == "mine"


def test_interrupt_leaves_nothing(tmp_path):
    program = [sys.executable, "-m", "anylight.cli.main"]
    arguments = ["synth", "--height", "500", "--cast-shadows", "--out", str(tmp_path / "out")]
    run = subprocess.Popen([*program, *arguments], stderr=subprocess.PIPE, text=True)
    assert next(run.stderr).endswith("done\n")  # the surface is seen; shadows take much longer
    run.send_signal(signal.SIGINT)
    _, message = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in message
    assert "stopped" in message
    assert not list(tmp_path.iterdir())
