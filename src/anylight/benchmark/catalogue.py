"""The catalogue: four shapes, nine albedos, the methods, and what they are asked.

Meshes and light maps are given by the user; without them embedded shapes stand in, so that the
benchmark runs anywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from anylight.errors import InvalidInputError
from anylight.methods import registered
from anylight.pipeline import RunOptions
from anylight.synth.options import SynthOptions

ALBEDOS = (
    "bars", "constant", "ebsd", "hippie", "natural", "pattern", "rectcircle", "voronoi", "white",
)  # fmt: skip
"""The paper's nine; natural in place of its photograph."""
RENDERED, USED = 25, 20
"""Photos per data set."""


@dataclass(frozen=True)
class Shape:
    """One shape of the comparison."""

    name: str
    stand_in: str
    """Embedded shape to take where no mesh is given."""
    volume: float
    """Best relative volume of the balloon for the published method, chosen with the truth at hand
    as in the paper (docs/paper.md)."""
    prior_volume: float
    """The same for the method that takes the balloon as a prior."""
    stand_in_volume: float


SHAPES = (
    Shape("armadillo", "coral", 0.08, 0.05, 0.08),
    Shape("tennyson", "bust", 0.18, 0.08, 0.12),
    Shape("lucy", "rings", 0.08, 0.05, 0.08),
    Shape("gargoyle", "vase", 0.18, 0.08, 0.18),
)
"""Tennyson and gargoyle in place of the paper's Joyful Yell and Thai Statue."""


@dataclass(frozen=True)
class Column:
    """One column of the tables: a method and what it is asked."""

    label: str
    options: RunOptions
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options of the method itself."""
    wants_volume: bool = False
    """Starts from the balloon of the shape's best volume."""
    is_prior: bool = False
    """The balloon is not only the start."""
    wants_truth: bool = False
    """Starts from the hemisphere around the true points."""
    wants_lights: bool = False
    """Needs known lights, so only photographs that come with them."""


_SPECIAL: Mapping[str, Mapping[str, bool]] = {
    "paper": {"wants_volume": True},
    "peng2017": {"wants_volume": True, "is_prior": True},
    "woodham": {"wants_lights": True},
}
"""What the paper's protocol grants single methods."""


@cache
def columns() -> Mapping[str, Column]:
    """All registered methods, and the published one from other starts."""
    found = {
        name: Column(method.label, RunOptions(method=name), **_SPECIAL.get(name, {}))  # type: ignore[arg-type]
        for name, method in registered().items()
    }
    return found | {
        "paper_hemisphere": Column(
            "paper, hemisphere start", RunOptions(method="paper"), wants_truth=True
        ),
        "paper_mo2018": Column("paper, Mo start", RunOptions(method="paper", init="mo2018")),
    }


def label_of(name: str) -> str:
    """What tables call a column; results made elsewhere go by the name of their folder."""
    return columns()[name].label if name in columns() else name


MAIN = ("favaro2012", "peng2017", "mo2018", "paper", "default")
"""Columns of the summary."""
SUPPLEMENT = (
    "favaro2012", "peng2017", "mo2018", "paper_hemisphere", "paper_mo2018", "paper", "default",
)  # fmt: skip
"""Columns of the detailed table."""
STUDY_PAIRS = (
    ("armadillo", "white"), ("tennyson", "ebsd"), ("lucy", "hippie"), ("gargoyle", "voronoi"),
)  # fmt: skip
"""Data sets of the parameter studies: the paper's, with the shapes replaced."""
VOLUMES = (0.02, 0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.40)
SMOOTHNESSES = (0.0014, 0.0045, 0.014, 0.045, 0.14, 0.45, 1.4)
NUMBERS = (4, 6, 8, 10, 15, 20, 25)

Protocol = Literal["depth", "mesh", "traced"]
PROTOCOLS: Mapping[Protocol, str] = {
    "depth": "normals by forward differences of the depth, as in the paper",
    "mesh": "true normals",
    "traced": "true normals, cast shadows and light from one part to another",
}
TRACED_BOUNCES = 6
"""Of light, under the protocol traced."""


def shape_of(name: str) -> Shape:
    """Find a shape by its name."""
    for shape in SHAPES:
        if shape.name == name:
            return shape
    raise InvalidInputError(
        f"'{name}' is not a shape of the catalogue; it has {', '.join(s.name for s in SHAPES)}."
    )


def rendering(
    shape: Shape,
    albedo: str,
    protocol: Protocol,
    height: int,
    meshes: Path | None,
    lights: Path | None,
) -> SynthOptions:
    """What to render for a data set."""
    mesh = None if meshes is None else meshes / f"{shape.name}.ply"
    if mesh is not None and not mesh.is_file():
        raise InvalidInputError(f"{mesh}: no such file; --meshes needs {shape.name}.ply.")
    return SynthOptions(
        shape=shape.stand_in if mesh is None else str(mesh.resolve()),
        albedo=albedo,  # type: ignore[arg-type]
        lights="builtin" if lights is None else str(lights.resolve()),
        protocol="mesh" if protocol == "traced" else protocol,
        bounces=TRACED_BOUNCES if protocol == "traced" else 0,
        stencil="forward",
        images=RENDERED,
        height=height,
    )
