import json

import msgspec
import numpy as np
import pytest
from intake.files import eight_bit, rendering, write_photos
from scipy import ndimage

from anylight.cli.main import main
from anylight.doctor.before import examine
from anylight.doctor.photos import photo_findings
from anylight.geometry.camera import Orthographic
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.capture import save_capture
from anylight.io.images import read_image
from anylight.model.capture import Capture
from anylight.model.orders import orders_for


def saved(folder, photos=None, camera=None):
    """Write a painted bust, with these photos instead of its own."""
    capture = rendering("bust", "voronoi", height=160).capture
    folder.mkdir(exist_ok=True)
    own = capture.photos if photos is None else photos
    save_capture(folder, Capture(own, capture.mask, camera or capture.camera))
    return folder


def photos():
    return rendering("bust", "voronoi", height=160).capture.photos.copy()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("good"))


def findings(folder, topic, **options):
    found = examine(load(folder, IntakeOptions(**options))).findings
    return [finding for finding in found if finding.topic == topic]


def test_a_good_capture_has_no_problems(good):
    examination = examine(load(good))
    assert examination.independent >= 4
    assert examination.order == orders_for(12)[-1] == 8
    assert {finding.severity for finding in examination.findings} <= {"good", "note"}
    assert examination.bytes_needed > 1e8
    assert examination.seconds_needed > 0


def test_problems_come_first(tmp_path):
    dark = photos()
    dark[4] = 0
    found = [f.severity for f in examine(load(saved(tmp_path, dark))).findings]
    order = ["problem", "warning", "note", "good"]
    assert found == sorted(found, key=order.index)
    assert found[0] == "problem"


@pytest.mark.parametrize("top", [65535, 64600])  # 0.985 of full scale is 64552
def test_clipping_is_measured_and_named(tmp_path, top):
    bright = photos()
    bright[3] = np.where(bright[3] > 12000, top, bright[3])
    examination = examine(load(saved(tmp_path, bright)))
    assert examination.clipped.argmax() == 3
    assert examination.clipped[3] > 0.5
    (finding,) = (f for f in examination.findings if f.topic == "clipping")
    assert finding.severity == "warning"
    assert "photo_03" in finding.text
    assert finding.remedy


def test_without_clipping_all_is_well(good):
    (finding,) = findings(good, "clipping")
    assert finding.severity == "good"


def test_a_black_photo_is_a_problem(tmp_path):
    dark = photos()
    dark[7] = 0
    (finding,) = findings(saved(tmp_path, dark), "darkness")
    assert finding.severity == "problem"
    assert "photo_07" in finding.text


def test_black_photos_can_be_examined(tmp_path):
    black = np.zeros_like(photos())
    black[:, 0, 0, 0] = np.arange(len(black))  # equal files would be refused
    examination = examine(load(saved(tmp_path, black)))
    assert examination.independent == 0
    (finding,) = (f for f in examination.findings if f.topic == "lights")
    assert finding.severity == "problem"


def test_a_photo_that_moved_is_a_problem(tmp_path):
    moved = photos()
    moved[5] = np.roll(moved[5], 6, axis=1)
    (finding,) = findings(saved(tmp_path, moved), "movement")
    assert finding.severity == "problem"
    assert "photo_05.png by 6" in finding.text
    assert "--align" in finding.remedy


def test_a_photo_that_moved_a_little_is_warned_of(tmp_path):
    moved = photos()
    moved[5] = np.roll(moved[5], 2, axis=0)
    (finding,) = findings(saved(tmp_path, moved), "movement")
    assert finding.severity == "warning"


def test_what_stood_still_is_said_to(good):
    (finding,) = findings(good, "movement")
    assert finding.severity == "good"


def test_a_blurred_photo_is_warned_of(tmp_path, good):
    (finding,) = findings(good, "sharpness")
    assert finding.severity == "good"
    some = photos().astype(float)
    some[3] = ndimage.gaussian_filter(some[3], (2, 2, 0))
    (finding,) = findings(saved(tmp_path / "one", some.astype(np.uint16)), "sharpness")
    assert finding.severity == "warning"
    assert "photo_03" in finding.text
    every = ndimage.gaussian_filter(photos().astype(float), (0, 2, 2, 0)).astype(np.uint16)
    (finding,) = findings(saved(tmp_path / "all", every), "sharpness")
    assert "soft" in finding.text


def test_photos_far_too_dark_are_found(tmp_path):
    dark = photos()
    dark[2] //= 200
    (finding,) = findings(saved(tmp_path, dark), "darkness")
    assert finding.severity == "warning"
    assert "photo_02" in finding.text


def test_scripts_learn_of_problems_by_the_exit_code(tmp_path, good):
    assert main(["info", str(good)]) == 0
    dark = photos()
    dark[4] = 0
    with pytest.raises(SystemExit) as end:
        main(["info", str(saved(tmp_path, dark))])
    assert end.value.code == 3


def test_few_photos_are_warned_of(tmp_path):
    found = findings(saved(tmp_path, photos()[:4]), "photos")
    assert any(f.severity == "warning" and "4 photos" in f.text for f in found)


def test_one_light_is_not_many(tmp_path, rng):
    same = photos()[:1] * rng.uniform(0.5, 0.9, (8, 1, 1, 1))
    noisy = np.clip(same + rng.normal(0, 20, same.shape), 0, 65535).astype(np.uint16)
    (finding,) = findings(saved(tmp_path, noisy), "lights")
    assert finding.severity == "problem"
    assert finding.text.startswith("1 of 8")


def test_a_guessed_lens_is_warned_of(tmp_path):
    saved(tmp_path)
    (tmp_path / "K.txt").unlink()
    (finding,) = findings(tmp_path, "camera")
    assert finding.severity == "warning"
    assert "--focal-35mm" in finding.remedy
    (finding,) = findings(tmp_path, "camera", focal_35mm=50.0)
    assert finding.severity == "good"


def test_parallel_rays_are_named(tmp_path):
    (finding,) = findings(saved(tmp_path, camera=Orthographic((79.5, 79.5))), "camera")
    assert "Parallel rays" in finding.text


@pytest.mark.parametrize("is_coded", [False, True])
def test_a_judged_curve_is_a_note(tmp_path, is_coded):
    write_photos(tmp_path, eight_bit(rendering().capture, is_coded))
    (finding,) = findings(tmp_path, "gamma")
    assert finding.severity == "note"
    assert f"--transfer {'linear' if is_coded else 'srgb'}" in finding.remedy


def test_a_made_mask_is_a_note(tmp_path):
    saved(tmp_path)
    (tmp_path / "mask.png").unlink()
    (finding, *_) = findings(tmp_path, "mask")
    assert finding.severity == "note"
    assert "anylight mask" in finding.remedy


def test_the_record_is_json(good):
    intake = load(good, IntakeOptions(downscale=2, crop=True, align=True))
    examination = examine(intake)
    record = json.loads(msgspec.json.encode(examination.record(intake)))
    assert [photo["name"] for photo in record["photos"]] == list(intake.capture.names)
    assert record["size"] == [intake.capture.mask.shape[1], intake.capture.mask.shape[0]]
    assert np.allclose(record["K"], intake.capture.camera.matrix)
    assert record["independent_lights"] == examination.independent
    assert record["singular_values"][0] == 1
    assert record["transfer"] == "linear"
    assert record["cropped_at"] == list(intake.corner)
    assert len(record["aligned"]) == len(record["photos"])
    assert len(record["findings"]) == len(examination.findings)
    assert set(record["findings"][0]) == {"severity", "topic", "text", "remedy"}


def test_info_prints_findings(good, capsys):
    assert main(["info", str(good)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for word in ("good photos: 12 photos", "movement: No photo moved", "forecast:"):
        assert word in out


def test_info_prints_json(good, capsys):
    assert main(["info", str(good), "--json", "--downscale", "2"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["size"] == [80, 80]
    assert record["dialect"] == "plain folder"


def test_info_of_nothing_fails(tmp_path, capsys):
    assert main(["info", str(tmp_path / "nowhere")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no such folder" in captured.err


def test_mask_writes_the_mask_and_a_picture(tmp_path, good, capsys):
    out = tmp_path / "mask"
    assert main(["mask", str(good), "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["mask.png", "preview.png"]
    mask = read_image(out / "mask.png")[..., 0] == 255
    assert np.array_equal(mask, load(good).capture.mask)
    assert read_image(out / "preview.png").shape == (160, 160, 3)
    assert "the folder" in capsys.readouterr().err
    assert main(["info", str(good), "--mask", str(out / "mask.png")]) == 0


def test_mask_makes_one(tmp_path):
    saved(tmp_path / "photos")
    (tmp_path / "photos" / "mask.png").unlink()
    out = tmp_path / "mask"
    assert main(["mask", str(tmp_path / "photos"), "--out", str(out)]) == 0
    made = read_image(out / "mask.png")[..., 0] == 255
    true = rendering("bust", "voronoi", height=160).capture.mask
    assert (made & true).sum() / (made | true).sum() > 0.97


def test_mask_leaves_other_folders_alone(tmp_path, good, capsys):
    (tmp_path / "thesis.txt").write_text("precious")
    assert main(["mask", str(good), "--out", str(tmp_path)]) == 2
    assert (tmp_path / "thesis.txt").read_text() == "precious"
    assert not (tmp_path / "mask.png").exists()
    assert capsys.readouterr().err


def test_single_photos_are_flagged_with_the_reason(tmp_path):
    """One that is blurred, one that is overexposed, one that moved; the others are fine."""
    changed = photos().astype(float)
    changed[1] = ndimage.gaussian_filter(changed[1], (2, 2, 0))
    changed[2] = np.minimum(changed[2] * 8, 65535)
    changed[3] = np.roll(changed[3], 5, axis=1)
    intake = load(saved(tmp_path / "a", np.round(changed).astype(np.uint16)))
    topics = [[one.topic for one in found] for found in photo_findings(intake, examine(intake))]
    assert "sharpness" in topics[1]
    assert "clipping" in topics[2]
    assert topics[3] == ["movement"]
    assert [topics[0], *topics[4:]] == [[]] * (len(topics) - 3)
