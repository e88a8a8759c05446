"""Headless Chromium for tests, where there is one."""

import shutil

import pytest

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SOFTWARE_GL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SPY = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => window.violations.push(event.violatedDirective + " " + event.blockedURI));
"""


def chromium(arguments):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    """Give a browser."""
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip("there is no Chromium to open pages with")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=executable, args=arguments)
        yield browser
        browser.close()


def until(tab, expression, seconds=20):
    """Wait for something to become true; the page's policy allows no eval of its own."""
    for _ in range(20 * seconds):
        if tab.evaluate(expression):
            return
        tab.wait_for_timeout(50)
    raise AssertionError(expression)
