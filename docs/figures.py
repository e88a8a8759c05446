"""Make the pictures of README and docs from embedded scenes: `make figures`.

Nothing here reads data that is not part of the project.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from anylight.io.images import write_image
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.environment import captured_energy, irradiance, project
from anylight.photometry.shading import shading
from anylight.pictures import (
    contact_sheet,
    radiance_picture,
    scene_pictures,
    shaded_picture,
    shrink,
)
from anylight.pipeline import RunOptions, reconstruct
from anylight.synth.albedos import ALBEDO_NAMES
from anylight.synth.lights import embedded_lights
from anylight.synth.options import SynthOptions
from anylight.synth.render import render
from anylight.synth.shapes import SHAPE_NAMES

mpl.use("Agg")
import matplotlib.pyplot as plt

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
            share = 100 * captured_energy(light, order)
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
    return list(scene_pictures(scene).values())


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
        reconstruct(rendering.capture, RunOptions(preset="paper", init=init)).reconstruction
        for init in ("constant", "balloon")
    ]
    rows = [answer_pictures(scene) for scene in (*scenes, rendering.truth)]
    sheet = contact_sheet([shrink(p, 200) for row in rows for p in row], columns=4)
    write_image(IMAGES / "constant.png", sheet)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for make in (figure_sha, figure_gallery, figure_hero, figure_constant):
        make()
        print(f"{make.__name__}: done")
