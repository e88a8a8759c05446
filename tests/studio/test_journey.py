"""The whole way in a real browser, where there is one: from the example to the mesh."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from chromium import until

from anylight.cli.main import main
from anylight.io.archive import load_reconstruction
from tests.studio.screen import Screen, centre, change, drag, inflate, paint, served, shot


def look_at_it(screen, tmp_path):
    """Relight, every view, heights along a line, photo beside re-rendering."""
    tab = screen.tab
    until(tab, "document.getElementById('surface').dataset.result === '1'")
    until(tab, "document.getElementById('surface').dataset.look === 'colours'")
    lit = shot(screen, tmp_path, "lit")
    assert lit.std() > 0.02
    x, y = centre(screen, "#ball")
    drag(screen, (x, y), (x + 40, y + 10))
    relit = shot(screen, tmp_path, "relit")
    assert change(lit, relit) > 0.005
    tab.select_option("#light", "3")
    assert change(relit, shot(screen, tmp_path, "as_photo")) > 0.005
    for name in ("Normals", "Depth", "Error", "Albedo", "Shape"):
        before = shot(screen, tmp_path, "before")
        tab.click(f".segments >> text={name}")
        tab.wait_for_timeout(600)
        assert change(before, shot(screen, tmp_path, name)) > 1e-3, name
    tab.click("#measure-line")
    x, y = centre(screen, "#view")
    drag(screen, (x - 60, y - 60), (x + 60, y - 60))
    tab.wait_for_selector("#heights .profile path")
    tab.click("text=Beside the photos")
    tab.wait_for_selector("#swipe")
    half = shot(screen, tmp_path, "half", ".sheet")
    tab.locator("#swipe").fill("100")
    assert change(half, shot(screen, tmp_path, "photo", ".sheet")) > 1e-5


@pytest.mark.slow
def test_from_the_example_to_the_mesh(browser, tmp_path):
    """The whole way: open, paint, inflate, compute, reload in between, relight, compare, export."""
    with served(tmp_path) as (_, address):
        screen = Screen(browser, address)
        tab = screen.tab
        tab.click("#example")
        tab.wait_for_selector(".thumb", timeout=90_000)
        tab.click("text=Next: mask")
        assert paint(screen, "eraser")["session"]["mask"]["share"] < 0.353
        tab.click("#undo")
        tab.click("text=Next: camera")
        tab.click("text=Next: first shape")
        until(tab, "document.getElementById('surface').dataset.balloon !== undefined")
        first = shot(screen, tmp_path, "flat")
        inflate(screen, 0.3)
        assert change(first, shot(screen, tmp_path, "round")) > 0.005
        tab.click("text=Next: compute")
        tab.click("text=Quick look")
        until(tab, "fetch('/api/state').then((a) => a.json())"
              ".then((s) => s.session.command.includes('--downscale 2'))")  # fmt: skip
        command = shlex.split(screen.state()["session"]["command"])
        tab.click("#next .main")
        until(tab, "Number(document.getElementById('surface').dataset.glimpse) > 1")
        screen.open(address)
        tab.wait_for_selector("#doing", timeout=10_000)
        assert screen.state()["run"]["state"] in ("running", "starting")
        until(tab, "Number(document.getElementById('surface').dataset.glimpse) > 0")
        tab.wait_for_selector("text=Next: export", timeout=240_000)
        look_at_it(screen, tmp_path)
        tab.click("text=Next: export")
        with tab.expect_download() as download:
            tab.click("a[data-name='mesh.glb']")
        assert Path(download.value.path()).read_bytes()[:4] == b"glTF"
        session = screen.state()["session"]
        shown = tab.locator("#command").inner_text()
        assert shown == session["results"][0]["command"]
        assert shlex.split(shown)[:-1] == command[:-1]
        assert main([*command[1:-1], str(tmp_path / "again")]) == 0
        ours = load_reconstruction(Path(session["results"][0]["folder"]) / "result.npz")
        again = load_reconstruction(tmp_path / "again" / "result.npz")
        np.testing.assert_array_equal(ours.depth, again.depth)
        screen.close()
