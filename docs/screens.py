"""Screenshots of the studio, at the size of a laptop and of a phone: `make figures`.

Skipped where there is no Chromium.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from anylight.cli.main import main

IMAGES = Path(__file__).parent / "images"
LAPTOP = (1400, 900)
PHONE = (390, 844)
_ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle",
              "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
              "--disable-background-networking", "--disable-sync"]  # fmt: skip
_SCENE = ["--shape", "bust", "--albedo", "natural", "--images", "15", "--height", "400"]


class _Camera:
    """Takes pictures of one browser window."""

    def __init__(self, browser: Browser, address: str, folder: Path, phone: bool) -> None:
        width, height = PHONE if phone else LAPTOP
        scheme: Literal["dark", "light"] = "dark" if phone else "light"
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=phone
        )
        self.tab: Page = context.new_page()
        self._base, self._folder = address.split("?", maxsplit=1)[0], folder
        self._kind = "studio_phone" if phone else "studio"
        self.tab.goto(address)
        self.tab.wait_for_selector("html[data-ready=true]")

    def step(self, name: str) -> None:
        """Go to a step."""
        self.tab.goto(f"{self._base}#{name}")
        self.tab.wait_for_timeout(2500)

    def take(self, name: str) -> None:
        """Keep a picture, in 256 colours."""
        self.tab.wait_for_timeout(800)
        path = self._folder / f"{self._kind}_{name}.png"
        self.tab.screenshot(path=path)
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        small.save(path, optimize=True)


def take_screens(executable: str) -> None:
    """Drive the studio through a session in a Chromium and keep what it shows."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        assert main(["synth", *_SCENE, "--out", str(folder / "bust")]) == 0
        command = [sys.executable, "-m", "anylight.cli.main", "studio", "bust", "--no-browser"]
        studio = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert studio.stdout is not None
        address = studio.stdout.readline().strip()
        assert re.match(r"http://127\.0\.0\.1:", address)
        try:
            with sync_playwright() as session:
                browser = session.chromium.launch(executable_path=executable, args=_ARGUMENTS)
                _session(_Camera(browser, address, IMAGES, phone=False))
                phone = _Camera(browser, address, IMAGES, phone=True)
                for step in ("photos", "mask", "shape", "look"):
                    phone.step(step)
                    phone.take(step)
                browser.close()
        finally:
            studio.terminate()
            studio.wait()
            studio.stdout.close()


def _session(camera: _Camera) -> None:
    """One way through the studio, on a laptop."""
    tab = camera.tab
    tab.wait_for_selector(".thumb", timeout=120_000)
    camera.step("photos")
    camera.take("photos")
    camera.step("mask")
    camera.take("mask")
    camera.step("camera")
    camera.take("camera")
    camera.step("shape")
    tab.locator("#volume").fill("0.2")
    camera.take("shape")
    camera.step("solve")
    tab.click("#next .main")
    tab.wait_for_timeout(15_000)
    camera.take("compute")
    tab.wait_for_selector("text=Next: export", timeout=600_000)
    tab.wait_for_timeout(9000)
    tab.locator("#view").focus()
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
    tab.evaluate("document.activeElement.blur()")
    camera.take("look")
    tab.click("text=Beside the photos")
    tab.wait_for_selector("#swipe")
    camera.take("swipe")


if __name__ == "__main__":
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        print("screens: skipped, there is no Chromium")
    else:
        take_screens(found)
        print("screens: done")
