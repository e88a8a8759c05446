"""Which cells a benchmark is made of."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from anylight.benchmark.catalogue import (
    ALBEDOS,
    NUMBERS,
    PROTOCOLS,
    RENDERED,
    SHAPES,
    SMOOTHNESSES,
    STUDY_PAIRS,
    USED,
    VOLUMES,
    Column,
    Protocol,
    Shape,
    columns,
    rendering,
    shape_of,
)
from anylight.benchmark.cell import Cell, Scene
from anylight.errors import InvalidInputError
from anylight.initial.start import USUAL_VOLUME
from anylight.io.archive import TRUTH_NAMES
from anylight.io.results import find_named
from anylight.methods import method_named
from anylight.pipeline import RunOptions

_MIXTURES = 20


@dataclass(frozen=True)
class Selection:
    """What to compare on what."""

    methods: tuple[str, ...]
    shapes: tuple[str, ...] = tuple(shape.name for shape in SHAPES)
    albedos: tuple[str, ...] = ALBEDOS
    protocol: Protocol = "depth"
    height: int = 320
    meshes: Path | None = None
    lights: Path | None = None
    real: tuple[Path, ...] = ()
    """Folders of photos; with known normals they join the tables, without they are shown."""

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in columns():
                method_named(method)
        for albedo in self.albedos:
            if albedo not in ALBEDOS:
                raise InvalidInputError(f"'{albedo}' is not known; there are {', '.join(ALBEDOS)}.")

    def volume(self, shape: Shape, column: Column) -> float:
        """Best volume of a shape for a method, or of what stands in for it."""
        if self.meshes is None:
            return shape.stand_in_volume
        return shape.prior_volume if column.is_prior else shape.volume

    def scene(self, shape: Shape, albedo: str) -> Scene:
        """A rendered data set."""
        synth = rendering(shape, albedo, self.protocol, self.height, self.meshes, self.lights)
        return Scene(name=f"{shape.name}_{albedo}", synth=synth)

    def _columns(self) -> list[tuple[str, Column]]:
        return [(name, columns()[name]) for name in self.methods]

    def main(self) -> list[Cell]:
        """Methods × shapes × albedos."""
        return [
            _cell(name, column, self.scene(shape, albedo), self.volume(shape, column))
            for shape in map(shape_of, self.shapes)
            for albedo in self.albedos
            for name, column in self._columns()
            if not column.wants_lights
        ]

    def real_cells(self) -> list[Cell]:
        """Methods × real captures; one-light sets are mixed, but for calibrated methods."""
        cells = []
        for folder in self.real:
            if not folder.is_dir():
                raise InvalidInputError(f"{folder}: no such folder; check --real.")
            lit = (folder / "light_directions.txt").is_file()
            for name, column in self._columns():
                mixed = _MIXTURES if lit and not column.wants_lights else 0
                scene = Scene(name=folder.name, folder=str(folder.resolve()), mixed=mixed)
                cells.append(_cell(name, column, scene, USUAL_VOLUME, study="real", use=None))
        return cells

    def elsewhere(self, results: Path) -> list[Cell]:
        """Results made elsewhere on the rendered data sets, one column per folder.

        Args:
            results: holds one folder per method, with a file or folder named after each data set.
        """
        folders = sorted(path for path in results.iterdir() if path.is_dir())
        for folder in folders:
            if folder.name in columns():
                raise InvalidInputError(
                    f"{folder}: has the name of a method that runs here; call it otherwise."
                )
        cells = []
        for folder in folders:
            for scene in self.scenes():
                path = find_named(folder, scene.name)
                if path is not None:
                    made = str(path.resolve())
                    stamp = _stamp(path)
                    cells.append(
                        Cell(method=folder.name, scene=scene, options=RunOptions(), made=made,
                             stamp=stamp)
                    )  # fmt: skip
        if not cells:
            names = ", ".join(scene.name for scene in self.scenes()[:3])
            raise InvalidInputError(
                f"{results}: holds no results; expected METHOD/SCENE.npz, .exr or .png with scenes "
                f"such as {names}."
            )
        return cells

    def described(self) -> str:
        """What the numbers of the tables are about, for everybody who reads only them."""
        meshes, lights = "the meshes that were given", "the light maps that were given"
        if self.meshes is None:
            pairs = [f"{s.stand_in} for {s.name}" for s in map(shape_of, self.shapes)]
            meshes = f"embedded shapes that stand in for the meshes ({', '.join(pairs)})"
        if self.lights is None:
            lights = "embedded lights"
        return (
            f"Rendered by protocol {self.protocol} ({PROTOCOLS[self.protocol]}), {self.height} "
            f"pixels high, {USED} of {RENDERED} photos, from {meshes} under {lights}."
        )

    def scenes(self) -> list[Scene]:
        """All rendered data sets."""
        return [
            self.scene(shape, albedo)
            for shape in map(shape_of, self.shapes)
            for albedo in self.albedos
        ]

    def studies(self) -> list[Cell]:
        """Error of the published method against volume and smoothness; of both against M."""
        cells = []
        for shape_name, albedo in STUDY_PAIRS:
            if shape_name not in self.shapes:
                continue
            shape = shape_of(shape_name)
            paper = columns()["paper"]
            scene, volume = self.scene(shape, albedo), self.volume(shape, paper)
            for value in VOLUMES:
                cells.append(_cell("paper", paper, scene, value, study="volume", value=value))
            for value in SMOOTHNESSES:
                column = replace(paper, settings={"albedo_smoothness": value})
                cells.append(_cell("paper", column, scene, volume, study="smoothness", value=value))
            for number in NUMBERS:
                for name in ("paper", "default"):
                    cells.append(
                        _cell(
                            name,
                            columns()[name],
                            scene,
                            volume,
                            study="photos",
                            value=number,
                            use=number,
                        )
                    )
        return cells


def _stamp(path: Path) -> str:
    return f"{path.stat().st_size} {path.stat().st_mtime_ns}"


def _program_stamp(column: Column) -> str:
    """Which program a method of another package is; ours are told by their version."""
    module = sys.modules.get(column.options.chosen().options.__module__)
    file = getattr(module, "__file__", None)
    if file is None or (module and module.__name__.startswith("anylight.")):
        return ""
    return _stamp(Path(file))


def has_truth(folder: Path) -> bool:
    """Whether the normals of a real capture are known."""
    return any((folder / name).is_file() for name in (*TRUTH_NAMES, "Normal_gt.mat"))


def _cell(
    name: str,
    column: Column,
    scene: Scene,
    volume: float,
    *,
    study: str = "main",
    value: float | None = None,
    use: int | None = USED,
) -> Cell:
    return Cell(
        method=name,
        scene=scene,
        options=msgspec.structs.replace(column.options, use=use),
        settings={**column.settings, **({"volume": volume} if column.wants_volume else {})},
        stamp=_program_stamp(column),
        wants_truth=column.wants_truth,
        study=study,
        value=value,
    )
