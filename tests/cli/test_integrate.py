import json

import numpy as np

from anylight.cli.main import main
from anylight.io.archive import load_reconstruction
from anylight.io.images import write_image
from tests.cli.short import fails


def test_integrate_a_normal_map(capture, tmp_path, capsys):
    truth = load_reconstruction(capture / "truth.npz")
    coded = np.nan_to_num((truth.normals * [1, -1, -1] + 1) / 2 * 65535)
    coded[~truth.mask] = 0
    write_image(tmp_path / "n.png", np.round(coded).astype(np.uint16))
    arguments = ["integrate", str(tmp_path / "n.png"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--intrinsics", str(capture / "K.txt")]) == 0
    scene = load_reconstruction(tmp_path / "out" / "result.npz")
    assert np.array_equal(scene.mask, truth.mask)
    assert (tmp_path / "out" / "mesh.ply").stat().st_size > 1000
    capsys.readouterr()
    assert main(["eval", str(tmp_path / "out"), "--truth", str(capture), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["mae_deg"] < 0.01
    assert numbers["depth_rmse"] < 0.05
    fails(
        capsys, ["integrate", str(tmp_path / "none.png"), "--out", str(tmp_path / "o")], "none.png"
    )
    write_image(tmp_path / "grey.png", np.ones((9, 9, 1), np.uint8))
    fails(capsys, ["integrate", str(tmp_path / "grey.png"), "--out", str(tmp_path / "o")], "three")
