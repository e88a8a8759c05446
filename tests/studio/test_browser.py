"""The studio in a real browser, where there is one."""

import pytest
from chromium import until

from tests.studio.screen import PHONE, STEPS, Screen, centre, inflate, paint, served


@pytest.fixture(scope="module")
def small(photos, tmp_path_factory):
    """A studio with the small capture."""
    with served(tmp_path_factory.mktemp("small"), str(photos)) as (_, address):
        yield address


def test_photos_mask_and_balloon(small, browser):
    """A small capture: look, switch off, paint, undo, inflate; nothing complains."""
    screen = Screen(browser, small)
    tab = screen.tab
    tab.wait_for_selector(".thumb", timeout=60_000)
    assert tab.locator(".thumb").count() == 5
    tab.locator(".thumb input").nth(1).uncheck()
    until(tab, "document.querySelectorAll('.thumb.off').length === 1")
    tab.locator(".thumb > button").first.click()
    tab.keyboard.press("ArrowRight")
    assert "2 of 5" in tab.locator("#lightbox figcaption").inner_text()
    tab.keyboard.press("Escape")
    screen.step("mask")
    before = screen.state()["session"]["mask"]["share"]
    less = paint(screen, "eraser")["session"]["mask"]["share"]
    assert less < before
    tab.keyboard.press("Control+z")
    until(tab, "fetch('/api/state').then((a) => a.json())"
          f".then((s) => s.session.mask.share === {before})")  # fmt: skip
    screen.step("shape")
    until(tab, "document.getElementById('surface').dataset.balloon !== undefined")
    flat, *_ = inflate(screen, 0.02)
    round_, *_ = inflate(screen, 0.3)
    assert round_ > 2 * flat
    screen.close()


def test_the_tools_paint_what_they_say(small, browser):
    """Brush, outline and colour on a small mask: the pixels that geometry says, and undone."""
    screen = Screen(browser, small)
    found = screen.tab.evaluate("""async () => {
      const { Painting } = await import("/assets/painting.js");
      const sum = (one) => one.mask.reduce((total, value) => total + value, 0);
      const one = new Painting(20, 10);
      one.remember();
      one.polygon([[1.5, 0.5], [11.5, 0.5], [11.5, 8.5], [1.5, 8.5]], 1);
      const outline = sum(one);
      one.remember();
      one.dot(6, 4, 2, 0);
      const dot = sum(one);
      one.undo();
      const undone = sum(one);
      one.undo();
      const pixels = new Uint8ClampedArray(4 * 200).fill(10);
      for (let row = 0; row < 10; row++) pixels.fill(200, 4 * (20 * row + 7), 4 * (20 * row + 8));
      one.flood([2, 2], pixels, 5, 1);
      return [outline, outline - dot, undone, sum(one), one.undo()];
    }""")
    # a rectangle of 10 × 8; a disc of radius two; left of a wall at column 7
    assert found == [80, 13, 80, 70, False]
    screen.close()


@pytest.mark.slow
def test_a_corrupt_upload_is_told_and_forgotten(small, browser, tmp_path):
    screen = Screen(browser, small)
    screen.tab.wait_for_selector(".thumb", timeout=60_000)
    screen.tab.click("text=Open other photos")
    for name in "abc":
        (tmp_path / f"{name}.jpg").write_bytes(b"this is no photo")
    screen.tab.set_input_files("#files", [tmp_path / f"{name}.jpg" for name in "abc"])
    screen.tab.wait_for_selector(".toast", timeout=30_000)
    assert "a.jpg" in screen.tab.locator(".toast").first.inner_text()
    screen.tab.wait_for_selector(".thumb")
    assert screen.tab.locator(".thumb").count() == 5
    screen.close()


@pytest.mark.slow
def test_every_step_fits_a_phone_and_the_page_scrolls(small, browser, tmp_path):
    del tmp_path
    screen = Screen(browser, small, PHONE, has_touch=True, color_scheme="dark")
    tab = screen.tab
    tab.wait_for_selector(".thumb", timeout=60_000)
    for step in STEPS[:5]:
        screen.step(step)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, step
        small_ones = tab.evaluate(
            "[...document.querySelectorAll('#panel button, #panel select')].filter((part) =>"
            " part.offsetParent && part.getBoundingClientRect().height < 28).length"
        )
        assert small_ones == 0, step
    screen.step("shape")
    x, y = centre(screen, "#view")
    session = screen.context.new_cdp_session(tab)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        *(("touchMove", [{"x": x, "y": y - 20 * step}]) for step in range(1, 8)),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        tab.wait_for_timeout(16)
    until(tab, "window.scrollY > 30")
    screen.close()


@pytest.mark.slow
def test_keys_alone_reach_every_control(small, browser):
    screen = Screen(browser, small)
    tab = screen.tab
    tab.wait_for_selector(".thumb", timeout=60_000)
    for step in ("mask", "camera", "shape", "solve"):
        screen.step(step)
        tab.wait_for_timeout(500)
        wanted = tab.locator(
            "#panel button:visible:enabled, #panel select:visible, #panel summary:visible"
        ).count()
        tab.evaluate("document.activeElement.blur()")
        reached = set()
        for _ in range(80):
            tab.keyboard.press("Tab")
            reached.add(tab.evaluate(
                "(() => { const part = document.activeElement; const all = [...document"
                ".querySelectorAll('#panel button, #panel select, #panel summary')];"
                " return all.indexOf(part); })()"
            ))  # fmt: skip
        assert len(reached - {-1}) >= wanted, step
    screen.close()


@pytest.mark.slow
def test_two_tabs_see_each_other_and_lose_nothing(small, browser):
    first, second = Screen(browser, small), Screen(browser, small)
    for screen in (first, second):
        screen.tab.wait_for_selector(".thumb", timeout=60_000)
    first.tab.locator(".thumb input").nth(3).uncheck()
    until(second.tab, "document.getElementById('thumb-3').classList.contains('off')")
    first.step("mask")
    second.step("mask")
    painted = paint(first, "eraser")["session"]["mask"]
    until(second.tab, "document.getElementById('mask-share').textContent.includes('by hand')")
    again = paint(second, "brush", reach=20)["session"]["mask"]
    assert again["share"] > painted["share"]
    first.close()
    second.close()
