"""Make the pictures of README and docs from embedded scenes: `make figures`.

Nothing here reads data that is not part of the project. Names after it make single ones:
`python docs/figures.py report mask`.
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
from playwright.sync_api import sync_playwright

from anylight.cli.main import main
from anylight.intake.load import load
from anylight.intake.options import IntakeOptions
from anylight.io.images import write_image
from anylight.metrics import evaluate
from anylight.model.capture import Capture
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import captured_energy, irradiance, project, texel_directions
from anylight.photometry.shading import shading
from anylight.pictures import (
    contact_sheet,
    error_picture,
    radiance_picture,
    scene_pictures,
    shaded_picture,
    shrink,
)
from anylight.pipeline import reconstruct
from anylight.runs.folder import mask_preview
from anylight.synth.albedos import ALBEDO_NAMES
from anylight.synth.lights import embedded_lights
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.synth.shapes import SHAPE_NAMES

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

IMAGES = Path(__file__).parent / "images"


def sphere_normals(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Normals of a sphere seen by a parallel camera, and its mask."""
    y, x = np.mgrid[:size, :size] / (size - 1) * 2.1 - 1.05
    square = x**2 + y**2
    mask = square < 1
    return np.stack([x, y, -np.sqrt(np.maximum(1 - square, 0))], axis=-1), mask


def figure_sha() -> None:
    """The paper's figure `sha`: light, exact shading, and what orders 1, 2 and 4 keep of it."""
    normals, mask = sphere_normals(160)
    chosen = (0, 1, 4)
    maps = embedded_lights()
    fig, axes = plt.subplots(len(chosen), 5, figsize=(11, 5.6), width_ratios=[2, 1, 1, 1, 1])
    for row, index in zip(axes, chosen, strict=True):
        light = maps[index]
        exact = irradiance(light[None], normals[mask])[0]
        white = np.quantile(exact, 0.99)
        row[0].imshow(radiance_picture(light / np.quantile(light, 0.97)))
        pictures = {"exact integral": exact}
        for order in (1, 2, 4):
            share = 100 * captured_energy(light[None], order).item()
            pictures[f"order {order}: {share:.2f} %"] = shading(
                project(light[None], order), normals[mask]
            )[0]
        for axis, (title, values) in zip(row[1:], pictures.items(), strict=True):
            image = np.ones((*mask.shape, 3))
            image[mask] = np.maximum(values.T / white, 0)
            axis.imshow(radiance_picture(image))
            axis.set_title(title, fontsize=10)
    axes[0, 0].set_title("environment", fontsize=10)
    for axis in axes.ravel():
        axis.axis("off")
    fig.tight_layout()
    fig.savefig(IMAGES / "sha.png", dpi=80, metadata={"Software": None})
    plt.close(fig)


def figure_gallery() -> None:
    """All embedded shapes and all albedos."""
    shapes, albedos = [], []
    for name in SHAPE_NAMES:
        truth = render(SynthOptions(shape=name, albedo="white", height=440, images=3)).truth
        assert truth.normals is not None
        shapes.append(shrink(shaded_picture(truth.normals, truth.mask, truth.camera), 220))
    for kind in ALBEDO_NAMES:
        options = SynthOptions(shape="vase", albedo=kind, height=400, images=3)
        capture = render(options).capture
        albedos.append(shrink(radiance_picture(capture.photos[2] / capture.full_scale), 200))
    write_image(IMAGES / "shapes.png", contact_sheet(shapes, columns=4))
    write_image(IMAGES / "albedos.png", contact_sheet(albedos, columns=9))


def answer_pictures(scene: Reconstruction) -> list[np.ndarray]:
    """Shape, depth, normals and albedo of a scene."""
    pictures = scene_pictures(scene)
    return [pictures[name] for name in ("shaded", "depth", "normals", "albedo")]


def figure_hero() -> None:
    """Photos of the demo, what the solver makes of them, and the truth."""
    rendering = render(SynthOptions(shape="bust", albedo="rectcircle"))
    capture = rendering.capture
    result = reconstruct(capture).reconstruction
    photos = [radiance_picture(capture.photos[i] / capture.full_scale) for i in (1, 4, 12, 20)]
    pictures = photos + answer_pictures(result) + answer_pictures(rendering.truth)
    sheet = contact_sheet([shrink(picture, 240) for picture in pictures], columns=4)
    write_image(IMAGES / "hero.png", sheet)


def figure_constant() -> None:
    """The paper's negative example: from a constant depth, from a balloon, and the truth."""
    rendering = render(SynthOptions(shape="bust", albedo="voronoi", height=320))
    scenes = [
        reconstruct(rendering.capture, preset="paper", init=init).reconstruction
        for init in ("constant", "balloon")
    ]
    rows = [answer_pictures(scene) for scene in (*scenes, rendering.truth)]
    sheet = contact_sheet([shrink(p, 200) for row in rows for p in row], columns=4)
    write_image(IMAGES / "constant.png", sheet)


def lamps(spots: list[tuple[float, float]]) -> np.ndarray:
    """Environments of one soft lamp each in a dark room.

    Args:
        spots: angle from the lens as seen by the object, and angle around it, 90 is above; degrees.
    """
    directions = texel_directions(64, 128)
    away, around = np.deg2rad(np.array(spots)).T
    towards = np.stack(
        [np.sin(away) * np.cos(around), -np.sin(away) * np.sin(around), -np.cos(away)], axis=-1
    )
    sharpness = 1 / (1 - np.cos(np.deg2rad(10)))
    beams = np.exp(sharpness * (np.einsum("yxi,mi->myx", directions, towards) - 1))
    return np.repeat((60 * beams + 0.05)[..., None], 3, axis=-1)


GOOD_SPOTS = [(10.0, 90.0), (25.0, 270.0)] + [
    (away, first + 72.0 * turn) for away, first in ((45.0, 0.0), (70.0, 36.0)) for turn in range(5)
]
"""Near the lens and from all sides."""
BAD_SPOTS = [(25.0 + 6 * np.cos(k), 120.0 + 12 * np.sin(k)) for k in range(12)]
"""All from much the same side."""

NOISE = 0.01
"""Of the photos under lamps, in units of white."""


def lit(truth: Reconstruction, spots: list[tuple[float, float]], exposure: float = 1.0) -> Capture:
    """Photos of a scene under lamps, with noise; at exposure 1 hardly a pixel clips."""
    assert truth.normals is not None
    assert truth.albedo is not None
    assert truth.camera is not None
    light = irradiance(lamps(spots), truth.normals[truth.mask]) * truth.albedo[truth.mask].T
    radiance = light / np.quantile(light, 0.999) * exposure
    radiance += NOISE * np.random.default_rng(0).standard_normal(radiance.shape)
    photos = np.zeros((len(spots), *truth.mask.shape, 3), np.uint16)
    photos[:, truth.mask] = np.round(np.clip(np.moveaxis(radiance, 1, 2), 0, 1) * 65535)
    return Capture(photos, truth.mask, truth.camera)


def photo_pictures(capture: Capture, chosen: list[int]) -> list[np.ndarray]:
    """Some photos as a screen shows them."""
    return [radiance_picture(capture.photos[i] / capture.full_scale) for i in chosen]


def show(axis: Axes, picture: np.ndarray, title: str) -> None:
    """A picture with a title."""
    axis.imshow(picture)
    axis.set_title(title, fontsize=10)
    axis.axis("off")


def shape_with_title(
    axis: Axes, capture: Capture, truth: Reconstruction, title: str
) -> Reconstruction:
    """Reconstruct, draw the shape, and say how far it is from the truth."""
    scene = reconstruct(capture).reconstruction
    assert scene.normals is not None
    angle = evaluate(scene, truth).mae_deg
    picture = shaded_picture(scene.normals, scene.mask, scene.camera)
    show(axis, picture, f"{title}: {angle:.1f}° off")
    return scene


def error_of(scene: Reconstruction, truth: Reconstruction) -> np.ndarray:
    """Angle to the true normals, white at ten degrees."""
    assert scene.normals is not None
    assert truth.normals is not None
    return error_picture(scene.normals, truth.normals, truth.mask, 10.0)


def save_figure(fig: Figure, name: str) -> None:
    """Write and close a figure."""
    fig.tight_layout()
    fig.savefig(IMAGES / name, dpi=80, metadata={"Software": None})
    plt.close(fig)


def figure_lamps() -> None:
    """Lamps from all sides, and lamps from one side; what becomes of both."""
    truth = render(SynthOptions(shape="bust", albedo="rectcircle", height=200, images=3)).truth
    fig, axes = plt.subplots(2, 5, figsize=(11, 4.9))
    for row, (name, spots) in zip(
        axes, {"all sides": GOOD_SPOTS, "one side": BAD_SPOTS}.items(), strict=True
    ):
        capture = lit(truth, spots)
        away, around = np.array(spots).T
        row[0].scatter(
            away * np.cos(np.deg2rad(around)), away * np.sin(np.deg2rad(around)), c="tab:orange"
        )
        for radius in (30, 60, 90):
            row[0].add_patch(Circle((0, 0), radius, fill=False, color="0.8"))
        row[0].plot(0, 0, "k+")
        row[0].set(xlim=(-95, 95), ylim=(-95, 95), aspect="equal")
        row[0].axis("off")
        row[0].set_title(f"12 lamps, {name}", fontsize=10)
        for axis, picture in zip(row[1:3], photo_pictures(capture, [4, 9]), strict=True):
            show(axis, picture, "photo")
        scene = shape_with_title(row[3], capture, truth, "shape")
        show(row[4], error_of(scene, truth), "its error, white: 10°")
    save_figure(fig, "lamps.png")


def figure_contact() -> None:
    """A good set of photos at a glance."""
    truth = render(SynthOptions(shape="vase", albedo="bars", height=400, images=3)).truth
    capture = lit(truth, GOOD_SPOTS)
    pictures = [shrink(picture, 200) for picture in photo_pictures(capture, list(range(12)))]
    write_image(IMAGES / "contact.png", contact_sheet(pictures, columns=6))


def figure_clipping() -> None:
    """The same photos exposed well, too bright and far too bright."""
    truth = render(SynthOptions(shape="bust", albedo="rectcircle", height=200, images=3)).truth
    fig, axes = plt.subplots(3, 4, figsize=(9, 7.4))
    for row, exposure in zip(axes, (1.0, 1.5, 4.0), strict=True):
        capture = lit(truth, GOOD_SPOTS, exposure)
        share = (capture.photos[:, truth.mask] == 65535).mean()
        for axis, picture in zip(row[:2], photo_pictures(capture, [0, 4]), strict=True):
            show(axis, picture, f"photo, {100 * share:.0f} % clipped")
        scene = shape_with_title(row[2], capture, truth, "shape")
        show(row[3], scene_pictures(scene)["albedo"], "albedo")
    save_figure(fig, "clipping.png")


def figure_count() -> None:
    """The same object from few and from many photos."""
    rendering = render(SynthOptions(shape="bust", albedo="voronoi", height=200, images=20))
    fig, axes = plt.subplots(1, 5, figsize=(11, 2.6))
    for axis, count in zip(axes, (3, 4, 6, 10, 20), strict=True):
        chosen = np.round(np.linspace(0, 19, count)).astype(int)
        capture = replace(rendering.capture, photos=rendering.capture.photos[chosen])
        shape_with_title(axis, capture, rendering.truth, f"{count} photos")
    save_figure(fig, "count.png")


def figure_shadows() -> None:
    """Cast shadows left alone and explained: shape, error, albedo; the truth beside them."""
    made = render(
        SynthOptions(shape="coral", albedo="natural", height=240, images=20, cast_shadows=True)
    )
    truth, capture = made.truth, made.capture
    rows = [photo_pictures(capture, [0, 7, 13])]
    scenes = [reconstruct(capture, shadows=mode).reconstruction for mode in ("off", "auto")]
    for name in ("shaded", "normals", "albedo"):
        rows.append([scene_pictures(scene)[name] for scene in (*scenes, truth)])
    rows.append(
        [*(error_of(scene, truth) for scene in scenes), scene_pictures(scenes[1])["openness"]]
    )
    pictures = [shrink(picture, 240) for column in zip(*rows, strict=True) for picture in column]
    write_image(IMAGES / "shadows.png", contact_sheet(pictures, columns=len(rows)))


def figure_mask() -> None:
    """What the automatic mask makes of photos in front of a dim, mottled wall."""
    rng = np.random.default_rng(0)
    truth = render(SynthOptions(shape="vase", albedo="bars", height=240, images=3)).truth
    capture = lit(truth, GOOD_SPOTS, 0.9)
    strength = capture.photos[:, truth.mask].mean(axis=(1, 2)) / 65535
    wall = 0.12 * (1 + 0.3 * rng.standard_normal((*truth.mask.shape, 1)))
    photos = capture.photos / 65535
    photos = np.where(truth.mask[..., None], photos, strength[:, None, None, None] * wall)
    photos = np.clip(photos + 0.004 * rng.standard_normal(photos.shape), 0, 1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for index, photo in enumerate(photos):
            write_image(folder / f"{index}.jpg", radiance_picture(photo))
        intake = load(folder, IntakeOptions(fov=42))
    found = shrink(mask_preview(intake), 240)
    pictures = [radiance_picture(intake.capture.photos[i] / 65535) for i in (0, 4)]
    sheet = contact_sheet([*(shrink(picture, 240) for picture in pictures), found], columns=3)
    write_image(IMAGES / "mask.png", sheet)


def figure_report() -> None:
    """The top of a report in a browser; skipped where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        print("figure_report: skipped, there is no Chromium")
        return
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle",
                 "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                 "--disable-background-networking", "--disable-sync"]  # fmt: skip
    with TemporaryDirectory() as name:
        folder = Path(name)
        scene = ["--shape", "bust", "--albedo", "rectcircle", "--images", "20", "--height", "320"]
        assert main(["synth", *scene, "--out", str(folder / "bust")]) == 0
        assert main(["run", str(folder / "bust"), "--out", str(folder / "result")]) == 0
        with sync_playwright() as session:
            browser = session.chromium.launch(executable_path=executable, args=arguments)
            tab = browser.new_page(viewport={"width": 1100, "height": 760})
            tab.goto((folder / "result" / "report.html").as_uri())
            tab.wait_for_selector("#surface[data-state=ready]")
            tab.locator("#view").focus()
            for _ in range(4):
                tab.keyboard.press("ArrowLeft")
            tab.evaluate("document.activeElement.blur()")
            tab.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            tab.screenshot(
                path=IMAGES / "report.png",
                full_page=True,
                clip={"x": 0, "y": 0, "width": 1100, "height": 1190},
            )
            browser.close()


FIGURES = (
    figure_sha,
    figure_gallery,
    figure_hero,
    figure_constant,
    figure_lamps,
    figure_contact,
    figure_clipping,
    figure_count,
    figure_shadows,
    figure_mask,
    figure_report,
)

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for make in FIGURES:
        if not sys.argv[1:] or make.__name__.removeprefix("figure_") in sys.argv[1:]:
            make()
            print(f"{make.__name__}: done")
