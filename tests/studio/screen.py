"""A tab of the studio in a real browser, and hands that work in it."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import OpenImageIO as oiio
from chromium import SPY, until

LAPTOP, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
TWICE_DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
STEPS = ("photos", "mask", "camera", "shape", "solve", "look", "export")


@contextmanager
def served(folder, *arguments):
    """The studio as users start it: its process and its address."""
    command = [sys.executable, "-m", "anylight.cli.main", "studio", "--no-browser", *arguments]
    quiet = {**os.environ, "PYTHONWARNINGS": ""}
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env=quiet)
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", address)
        yield process, address
        process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Screen:
    """A tab, and everything it complained about."""

    def __init__(self, browser, address, size=LAPTOP, **options):
        self.context = browser.new_context(viewport=size, accept_downloads=True, **options)
        self.base = address.split("?")[0]
        self.tab = self.context.new_page()
        self.complaints = []
        self.tab.on("console", self._hear)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self._ask(request.url))
        self.tab.add_init_script(SPY)
        self.open(address)

    def _hear(self, message):
        if message.type in ("error", "warning") and "GPU stall" not in message.text:
            self.complaints.append(message.text)

    def _ask(self, url):
        if not url.startswith((self.base, self.base.replace("http", "ws"), "blob:", "data:")):
            self.complaints.append(url)

    def open(self, address):
        self.tab.goto(address)
        self.tab.wait_for_selector("html[data-ready=true]", timeout=20_000)

    def step(self, name):
        self.tab.goto(f"{self.base}#{name}")
        self.tab.wait_for_selector(
            f"#steps button:nth-child({STEPS.index(name) + 1})[aria-current]"
        )

    def state(self):
        return self.tab.evaluate("fetch('/api/state').then((answer) => answer.json())")

    def close(self):
        assert self.complaints == []
        assert self.tab.evaluate("window.violations") == []
        self.context.close()


def shot(screen, folder, name, selector="#view"):
    screen.tab.evaluate(TWICE_DRAWN)
    if selector == "#view":
        until(screen.tab, "document.getElementById('surface').dataset.state === 'ready'")
    path = folder / f"{name}.png"
    screen.tab.locator(selector).screenshot(path=path)
    return oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT)[..., :3]


def change(first, second):
    return float(np.abs(first - second).mean())


def centre(screen, selector):
    box = screen.tab.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(screen, start, end):
    screen.tab.mouse.move(*start)
    screen.tab.mouse.down()
    screen.tab.mouse.move(*end, steps=5)
    screen.tab.mouse.up()


def paint(screen, tool, reach=60):
    """A stroke through the middle of the photo; gives the state after it."""
    number = screen.state()["session"]["mask"]["number"]
    screen.tab.click(f"#tool-{tool}")
    x, y = centre(screen, "#paint")
    drag(screen, (x - reach, y), (x + reach, y))
    until(screen.tab, f"fetch('/api/state').then((a) => a.json())"
          f".then((s) => s.session.mask.number > {number})")  # fmt: skip
    return screen.state()


def inflate(screen, volume):
    """Move the slider; gives the balloon's thickness, seconds until it was there, until drawn."""
    return screen.tab.evaluate(
        """async (volume) => {
          const slider = document.getElementById("volume");
          const surface = document.getElementById("surface");
          const before = surface.dataset.balloon;
          const begin = performance.now();
          slider.value = volume;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          while (surface.dataset.balloon === before) {
            await new Promise((done) => setTimeout(done, 1));
          }
          const answered = performance.now();
          await new Promise((done) => requestAnimationFrame(done));
          return [Number(surface.dataset.thickness), (answered - begin) / 1000,
            (performance.now() - begin) / 1000];
        }""",
        volume,
    )
