"""The report in a real browser, where there is one."""

from itertools import pairwise

import numpy as np
import OpenImageIO as oiio
import pytest
from chromium import ARGUMENTS, SOFTWARE_GL, SPY, chromium, until
from report.stories import NASTY, TITLE, ball_scene, story_of

from anylight.photometry.transfer import srgb_to_linear
from anylight.report.page import report_html


@pytest.fixture(scope="module")
def browser():
    yield from chromium([*ARGUMENTS, *SOFTWARE_GL])


@pytest.fixture(scope="module")
def story():
    return story_of(
        ball_scene(height=90, width=120), title=TITLE, names=(NASTY, "b.png", "c.png", "d.png")
    )


@pytest.fixture
def opened(browser, story, tmp_path):
    """The report in a page, and everything it complained about."""
    path = tmp_path / "report.html"
    path.write_text(report_html(story), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 640, "height": 520})
    complaints, asked = [], []

    def hear(message):
        if message.type in ("error", "warning") and "GPU stall" not in message.text:
            complaints.append(message.text)

    tab.on("console", hear)
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: asked.append(request.url))
    tab.add_init_script(SPY)
    tab.goto(path.as_uri())
    tab.wait_for_selector("#surface[data-state=ready]", timeout=20_000)
    yield tab, tmp_path
    assert complaints == []
    assert tab.evaluate("window.violations") == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    tab.close()


def drawn(tab, folder, name="view"):
    """What the canvas shows, once it has been drawn."""
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    until(tab, "document.getElementById('surface').dataset.state === 'ready'")
    path = folder / f"{name}.png"
    tab.locator("#view").screenshot(path=path)
    return oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT)[..., :3]


def change(first, second):
    return float(np.abs(first - second).mean())


def drag(tab, start, end, button="left"):
    tab.mouse.move(*start)
    tab.mouse.down(button=button)
    tab.mouse.move(*end, steps=3)
    tab.mouse.up(button=button)


def touch(tab, start, end):
    session = tab.context.new_cdp_session(tab)
    for kind, fingers in (("touchStart", start), ("touchMove", end), ("touchEnd", [])):
        points = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(fingers)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def middle(tab, selector):
    box = tab.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_viewer_draws_turns_and_relights(opened):
    tab, folder = opened
    first = drawn(tab, folder, "first")
    assert first.std() > 0.02
    x, y = middle(tab, "#view")

    drag(tab, (x - 80, y), (x + 80, y))
    turned = drawn(tab, folder, "turned")
    assert change(first, turned) > 0.01
    tab.mouse.dblclick(x, y)
    assert change(first, drawn(tab, folder)) < 1e-4

    left, top = middle(tab, "#ball")
    drag(tab, (left, top), (left + 40, top + 5))
    relit = drawn(tab, folder, "relit")
    assert change(first, relit) > 0.01
    tab.keyboard.press("r")
    assert change(first, drawn(tab, folder)) < 3e-3  # the ball's focus ring overlaps the canvas

    drag(tab, (x - 120, y), (x + 120, y + 20), button="right")
    assert change(first, drawn(tab, folder)) > 0.01
    tab.keyboard.press("R")
    tab.keyboard.down("Shift")
    drag(tab, (x - 120, y), (x + 120, y + 20))
    tab.keyboard.up("Shift")
    assert change(first, drawn(tab, folder)) > 0.01
    tab.keyboard.press("r")
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, -400)
    assert change(first, drawn(tab, folder, "near")) > 0.01


def test_the_page_scrolls_past_the_view(opened):
    """Wheel and vertical finger belong to the page until somebody clicks or taps the view."""
    tab, folder = opened
    first = drawn(tab, folder)
    x, y = middle(tab, "#view")
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, 120)
    until(tab, "window.scrollY > 50")
    tab.wait_for_timeout(500)  # until it has stopped
    tab.evaluate("window.scrollTo(0, 0)")
    until(tab, "document.getElementById('notice').hidden")
    assert change(first, drawn(tab, folder)) < 1e-4
    assert tab.evaluate("getComputedStyle(document.getElementById('view')).touchAction") == "pan-y"
    touch(tab, [(x, y)], [(x, y)])
    tab.wait_for_selector("#view[data-active=touch]")
    assert tab.evaluate("getComputedStyle(document.getElementById('view')).touchAction") == "none"
    tab.mouse.click(x, y)
    before = tab.evaluate("window.scrollY")
    tab.mouse.wheel(0, 120)
    tab.wait_for_timeout(200)
    assert tab.evaluate("window.scrollY") == before
    tab.mouse.move(x, y + 230)
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, 120)
    until(tab, "window.scrollY > 50")


def test_it_turns_no_further_than_the_camera_saw(opened):
    tab, folder = opened
    x, y = middle(tab, "#view")
    for _ in range(3):
        drag(tab, (x - 140, y), (x + 140, y))
    assert tab.locator("#notice").text_content() == "The camera saw only this side."
    furthest = drawn(tab, folder)
    drag(tab, (x - 140, y), (x + 140, y))
    assert change(furthest, drawn(tab, folder)) < 1e-4
    assert furthest.std() > 0.02


def test_controls_and_keys(opened):
    tab, folder = opened
    tab.locator("#view").focus()
    seen = [drawn(tab, folder)]
    for key in ("ArrowLeft", "Shift+ArrowRight", "+"):
        tab.keyboard.press(key)
        seen.append(drawn(tab, folder))
    for look in ("1", "2", "0"):
        tab.locator(f"input[name=look][value='{look}']").check()
        seen.append(drawn(tab, folder))
    assert tab.locator("#lamp option").all_text_contents()[1] == f"photo 1: {NASTY}"
    tab.locator("#follow").check()
    x, y = middle(tab, "#view")
    tab.mouse.move(x + 120, y + 90)
    seen.append(drawn(tab, folder))
    tab.select_option("#lamp", "2")
    seen.append(drawn(tab, folder, "estimated"))
    tab.locator("#strength").fill("2")
    seen.append(drawn(tab, folder))
    for before, after in pairwise(seen):
        assert change(before, after) > 1e-3
    touch(tab, [(x - 20, y), (x + 20, y)], [(x - 80, y), (x + 80, y)])
    pinched = drawn(tab, folder, "pinched")
    assert change(seen[-1], pinched) > 1e-3
    touch(tab, [(x, y)], [(x + 60, y)])
    assert change(pinched, drawn(tab, folder)) > 1e-3
    assert tab.title() == TITLE
    assert tab.locator("h1").text_content() == TITLE
    tab.screenshot(path=folder / "page.png", full_page=True)


def test_survives_a_lost_context_and_another_size(opened):
    tab, folder = opened
    first = drawn(tab, folder)
    tab.evaluate(
        "window.thief = document.getElementById('view').getContext('webgl2')"
        ".getExtension('WEBGL_lose_context'); window.thief.loseContext()"
    )
    tab.wait_for_selector("#surface[data-state=lost]")
    tab.evaluate("window.thief.restoreContext()")
    tab.wait_for_selector("#surface[data-state=ready]")
    assert change(first, drawn(tab, folder)) < 1e-4
    tab.set_viewport_size({"width": 420, "height": 700})
    narrow = drawn(tab, folder, "narrow")
    assert narrow.shape[1] < 420
    assert narrow.std() > 0.02
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_estimated_light_shows_what_the_photo_shows(opened, story):
    """Front view under the light of a photo: the mean colour on the ball is the photo's."""
    tab, folder = opened
    tab.select_option("#lamp", "1")
    shown = drawn(tab, folder, "as_photo")
    rows, columns = shown.shape[:2]
    window = np.s_[rows // 2 - 20 : rows // 2 + 20, columns // 2 - 20 : columns // 2 + 20]
    photo = story.photos[1] / story.full_scale
    height, width = story.scene.mask.shape
    white = np.quantile(photo[story.scene.mask], 0.995)
    there = np.s_[height // 2 - 3 : height // 2 + 3, width // 2 - 3 : width // 2 + 3]
    ours = srgb_to_linear(shown[window].astype(float)).mean(axis=(0, 1))
    # the paint is random from pixel to pixel, so the means differ by a few percent
    np.testing.assert_allclose(ours, (photo[there] / white).mean(axis=(0, 1)), rtol=0.12)


def test_without_webgl_a_still_picture_and_a_sentence(browser, story, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report_html(story), encoding="utf-8")
    tab = browser.new_page()
    tab.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    tab.goto(path.as_uri())
    tab.wait_for_selector("#surface[data-state=missing]")
    assert tab.locator("#still").is_visible()
    assert "WebGL" in tab.locator("#notice").text_content()
    assert not tab.locator("#controls").is_visible()
    tab.close()
    context = browser.new_context(java_script_enabled=False)
    silent = context.new_page()
    silent.goto(path.as_uri())
    assert silent.locator("#still").is_visible()
    assert "Scripts are switched off" in silent.locator("noscript .notice").inner_text()
    assert silent.locator("noscript .notice").is_visible()
    context.close()
