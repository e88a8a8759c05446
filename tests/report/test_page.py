import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from report.stories import NASTY, TITLE, ball_scene, story_of

from anylight.photometry.shading import intensity
from anylight.report.page import SMALLEST_MB, report_html


class Elements(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self._open = [], {}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id", tag)

    def handle_data(self, data):
        self.texts[self._open] = self.texts.get(self._open, "") + data

    def handle_endtag(self, tag):
        del tag
        self._open = ""

    def named(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(scope="module")
def page():
    return report_html(story_of(ball_scene()))


def test_everything_is_inside(page):
    for tag, attributes in Elements(page).tags:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            address = attributes.get(name)
            assert address is None or address.startswith(("data:", "#")), (tag, name)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    assert "@import" not in style
    assert "url(" not in style
    assert not re.search(r"https?://", page)


def test_all_parts_are_there(page):
    elements = Elements(page)
    assert {"surface", "findings", "shape", "photos", "energy", "record"} <= {
        attributes.get("id") for attributes in elements.named("section")
    }
    assert len(re.findall(r'<article class="photo">', page)) == 4
    assert len(re.findall(r"<figcaption>(re-rendered|residual|estimated light)<", page)) == 12
    assert "Walk around the object." in page
    assert "joint.order" in page
    assert "<noscript>" in page
    assert 'id="still"' in page


def test_same_story_same_bytes(page):
    assert report_html(story_of(ball_scene())) == page


def test_policy_names_exactly_the_inline_script_and_style(page):
    policy = next(
        attributes["content"]
        for attributes in Elements(page).named("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["base-uri"] == parts["form-action"] == "'none'"
    assert parts["img-src"] == "data:"
    assert "unsafe" not in policy
    for name, pattern in (
        ("style-src", r"<style>(.*?)</style>"),
        ("script-src", r"<script>(.*?)</script>"),
    ):
        (source,) = re.findall(pattern, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert parts[name] == f"'sha256-{digest}'"


def test_nothing_inline_that_the_policy_would_block(page):
    for _, attributes in Elements(page).tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]


def test_names_are_only_shown():
    scene = ball_scene(photos=3)
    lone_surrogate = b"\xff.png".decode("utf-8", "surrogateescape")
    plain, story = (
        story_of(scene),
        story_of(
            scene,
            title=TITLE,
            names=(NASTY, "a\u2028b\x00.png", lone_surrogate),
            facts={NASTY: TITLE},
            options={NASTY: {TITLE: NASTY}},
            versions={TITLE: "$title ${x} $"},
            energies=((NASTY, 1.0), (TITLE, 0.5)),
        ),
    )
    page = report_html(story)
    page.encode("utf-8")
    elements, harmless = Elements(page), Elements(report_html(plain))
    assert len(elements.named("script")) == 2
    assert len(elements.named("img")) == len(harmless.named("img"))
    assert NASTY not in page
    assert "\x00" not in page
    assert json.loads(elements.texts["data"])["lights"][0]["name"] == NASTY
    assert not set("<>&\u2028\u2029") & set(elements.texts["data"])


@pytest.mark.parametrize(
    "field", ["depth", "normals", "albedo", "lighting", "confidence", "camera"]
)
def test_what_is_not_known_is_left_out(field):
    whole = story_of(ball_scene(photos=3))
    page = report_html(replace(whole, scene=replace(whole.scene, **{field: None})))
    elements = Elements(page)
    data = json.loads(elements.texts["data"])
    assert ("cells" in data) == (field not in ("depth", "camera"))
    assert ("re-rendered" in page) == (field not in ("normals", "albedo", "lighting"))
    assert ("Confidence of" in page) == (field != "confidence")
    assert len(re.findall(r'<article class="photo">', page)) == 3


def test_almost_nothing_is_known():
    whole = story_of(ball_scene(photos=3))
    scene = type(whole.scene)(whole.scene.mask)
    bare = replace(whole, scene=scene, names=(), before=(), after=(), energies=(), facts={},
                   options={}, versions={})  # fmt: skip
    page = report_html(bare)
    assert "photo 3" in page
    assert [attributes["id"] for attributes in Elements(page).named("section")] == [
        "surface",
        "photos",
    ]


@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_any_channels_and_types(channels, dtype):
    page = report_html(story_of(ball_scene(channels=channels, photos=3, order=1), dtype=dtype))
    lights = json.loads(Elements(page).texts["data"])["lights"]
    assert [len(light["coefficients"]) for light in lights] == [27, 27, 27]


def test_parallel_rays_and_high_order():
    page = report_html(story_of(ball_scene(parallel=True, order=4, photos=3)))
    assert "cells" in json.loads(Elements(page).texts["data"])


def test_holes_in_the_result_do_not_matter():
    scene = ball_scene(photos=3)
    story = story_of(scene)
    for image in (scene.depth, scene.normals, scene.albedo, scene.confidence):
        image[28:32, 30:50] = np.nan
    assert "cells" in report_html(story)
    scene.depth[:] = np.nan
    assert '"cells"' not in report_html(story)


def test_residual_is_the_noise():
    scene = ball_scene(photos=3)
    page = report_html(story_of(scene, noise=0.02))
    shares = [float(text) for text in re.findall(r'class="share">([\d.]+) %', page)]
    mean_square = (intensity_of(scene) ** 2).mean(axis=(1, 2))
    # four thousand samples make the noise's power known to a few percent
    np.testing.assert_allclose(shares, 100 * 0.02 / np.sqrt(mean_square), rtol=0.06)


def intensity_of(scene):
    return intensity(scene.albedo[scene.mask].T, scene.lighting, scene.normals[scene.mask])


def test_a_large_noisy_scene_stays_below_the_limit():
    rng = np.random.default_rng(0)
    scene = ball_scene(height=360, width=360, photos=5)
    noisy = scene.normals + 0.3 * rng.normal(size=scene.normals.shape)
    noisy /= np.linalg.norm(noisy, axis=2, keepdims=True)
    story = story_of(replace(scene, normals=noisy), noise=0.2)
    assert len(report_html(story).encode()) > 1.5e6
    for limit in (1.5, SMALLEST_MB):
        page = report_html(story, limit_mb=limit)
        assert len(page.encode()) <= limit * 1e6
        assert "cells" in page
    with pytest.raises(ValueError, match="needs"):
        report_html(story, limit_mb=0.01)


def test_too_many_photos_are_left_out_evenly():
    page = report_html(story_of(ball_scene(photos=70)), limit_mb=SMALLEST_MB)
    assert len(page.encode()) <= SMALLEST_MB * 1e6
    shown = len(re.findall(r'<article class="photo">', page))
    assert 5 < shown < 70
    assert f"{shown} of 70 photos are shown" in page
    assert "<bdi>photo0.png" in page
    assert "<bdi>photo69.png" in page


def test_progress_is_told_in_order():
    told = []
    report_html(
        story_of(ball_scene(photos=3)), progress=lambda what, share: told.append((what, share))
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], told[-1]) == (0.0, ("page", 1.0))


def test_photos_must_belong_to_the_scene():
    scene = ball_scene(photos=3)
    with pytest.raises(ValueError, match="lighting"):
        story_of(scene, photos=np.zeros((2, *scene.mask.shape, 3), np.uint8))
    with pytest.raises(ValueError, match="sizes"):
        story_of(scene, photos=np.zeros((3, 5, 5, 3), np.uint8))


def test_a_thin_object_and_light_that_is_not_finite():
    scene = ball_scene(photos=3)
    story = story_of(scene, dtype=np.float32)
    story.photos[0, 30, 40] = [np.nan, np.inf, -np.inf]
    scene.mask[:] = False
    scene.mask[30, 10:70] = True
    assert '"cells"' not in report_html(story)
