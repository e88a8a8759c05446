"""One page that tells a run, whole in itself."""

from collections.abc import Callable
from importlib.resources import files
from string import Template

import numpy as np

from anylight.geometry.normals import depth_normals
from anylight.pictures import Picture, scene_pictures, shrink
from anylight.viewer.sources import joined

from .budget import Budget, first_budget
from .comparison import Darkroom
from .curve import energy_curve
from .embedding import data_block, jpeg, numbers, source_hash, words
from .relief import relief
from .residuals import Residuals, residuals
from .sections import (
    curve_section,
    findings_section,
    photo_card,
    photos_section,
    record_section,
    shape_section,
)
from .story import Story
from .textures import bump_texture, paint_texture, rgb, shader_lights
from .window import object_window, thinned

SMALLEST_MB = 0.5
_ROUNDS = 12
_NAME_LENGTH = 120

Tell = Callable[[str, float], None]


def report_html(story: Story, limit_mb: float = 25.0, progress: Tell | None = None) -> str:
    """Write the report of a run as one page.

    Args:
        story: the run.
        limit_mb: the page is made of smaller pictures until it has so many megabytes at most.
        progress: told what is done, and the share of the work so far.

    Raises:
        ValueError: the limit is below what a page needs.
    """
    if limit_mb < SMALLEST_MB:
        raise ValueError(f"a report needs {SMALLEST_MB} MB, not {limit_mb}")
    tell = progress or _silent
    tell("residuals", 0.0)
    found = residuals(story)
    limit = limit_mb * 1e6
    budget = first_budget(len(story.photos), limit)
    for attempt in range(_ROUNDS):
        page = _page(story, found, budget, _silent if attempt else tell)
        size = len(page.encode("utf-8"))
        if size <= limit:
            break
        budget = budget.smaller(min(0.9 * limit / size, 0.8))
    tell("page", 1.0)
    return page


def _page(story: Story, found: Residuals, budget: Budget, tell: Tell) -> str:
    tell("surface", 0.1)
    viewer = _viewer(story, found, budget)
    tell("pictures", 0.3)
    pictures = _pictures(story, budget)
    shaded = pictures.get("shaded", next(iter(pictures.values()), None))
    still = "" if shaded is None else _still(shaded, budget.quality)
    shown = _spaced(len(story.photos), budget.photos)
    room = Darkroom(story, found, budget.thumb)
    cards = []
    for done, index in enumerate(shown):
        tell("photos", 0.4 + 0.6 * done / len(shown))
        relative = None if found.relative is None else float(found.relative[index])
        name = _short(story.name(index))
        cards.append(photo_card(name, room.comparison(index), relative, budget.quality))
    style, script = _source("page.css"), joined(_source("page.js"))
    return Template(_source("page.html")).substitute(
        title=words(_short(story.title) or "A run of anylight"),
        summary=words(_summary(story, found)),
        policy=_policy(style, script),
        style=style,
        script=script,
        still=still,
        state="mesh" if "cells" in viewer else "still",
        data=data_block(viewer),
        sections="".join(
            [
                findings_section(story.before, story.after),
                shape_section(pictures, budget.quality),
                photos_section(cards, len(story.photos), found),
                curve_section(energy_curve(story.energies)),
                record_section(story.facts, story.options, story.versions),
            ]
        ),
    )


def _viewer(story: Story, found: Residuals, budget: Budget) -> dict[str, object]:
    """What the script needs to draw the surface; nothing where there is no depth."""
    scene = story.scene
    if scene.depth is None or scene.camera is None:
        return {}
    window = object_window(scene.mask)
    normals = scene.normals
    if normals is None:
        normals = depth_normals(scene.camera, scene.depth, scene.mask)
    mesh = relief(scene.camera, np.where(scene.mask, scene.depth, np.nan), normals, window,
                  budget.vertices)  # fmt: skip
    if mesh is None:
        return {}
    data: dict[str, object] = {
        "cells": numbers(mesh.cells),
        "grid": list(mesh.cells.shape),
        "positions": numbers(mesh.positions),
        "size": mesh.size.tolist(),
        "pixels": numbers(mesh.pixels),
        "bumps": bump_texture(normals, scene.mask, window, budget.bumps),
    }
    white = 1.0
    if scene.albedo is not None:
        inside = rgb(scene.albedo)[scene.mask]
        inside = inside[np.isfinite(inside)]
        white = max(float(np.quantile(inside, 0.995)) if inside.size else 1.0, 1e-12)
        data["paint"] = paint_texture(
            scene.albedo, scene.mask, white, window, budget.paint, budget.quality
        )
    if scene.lighting is not None and np.isfinite(scene.lighting).all():
        lights = shader_lights(scene.lighting, white, found.whites)
        data["lights"] = [
            {
                "name": _short(story.name(index)),
                "coefficients": [float(f"{number:.5g}") for number in light.ravel()],
            }
            for index, light in enumerate(lights)
        ]
    return data


def _pictures(story: Story, budget: Budget) -> dict[str, Picture]:
    window = object_window(story.scene.mask, 2 * budget.figure)
    scene = thinned(story.scene, window)
    pictures = scene_pictures(scene) if scene.mask.any() else {}
    return {name: shrink(picture, budget.figure) for name, picture in pictures.items()}


def _still(picture: Picture, quality: int) -> str:
    height, width = picture.shape[:2]
    return (
        f'<img id="still" src="{jpeg(picture, quality)}" width="{width}" height="{height}" '
        'alt="The shape under a lamp from the upper left">'
    )


def _summary(story: Story, found: Residuals) -> str:
    height, width = story.scene.mask.shape
    parts = [
        f"{len(story.photos)} photos of {width} × {height} pixels",
        f"{np.count_nonzero(story.scene.mask):,} pixels on the object".replace(",", " "),
    ]
    if found.relative is not None:
        parts.append(f"median residual {100 * float(np.median(found.relative)):.1f} %")
    for severity in ("problem", "warning"):
        count = sum(finding.severity == severity for finding in (*story.before, *story.after))
        if count:
            parts.append(f"{count} {severity}{'s' if count > 1 else ''}")
    return " · ".join(parts)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; img-src data:; style-src {source_hash(style)}; "
        f"script-src {source_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _spaced(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    return [int(index) for index in np.linspace(0, count - 1, most).round()]


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 1] + "…"


def _silent(_what: str, _share: float) -> None:
    pass
