"""Which cells a benchmark is made of."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from anylight.errors import InvalidInputError
from anylight.io.archive import TRUTH_NAMES
from anylight.pipeline import RunOptions

from .catalogue import (
    ALBEDOS,
    METHODS,
    NUMBERS,
    SHAPES,
    SMOOTHNESSES,
    STUDY_PAIRS,
    USED,
    VOLUMES,
    Method,
    Protocol,
    Shape,
    rendering,
    shape_of,
)
from .cell import Cell, Scene

_MIXTURES = 20


@dataclass(frozen=True)
class Plan:
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
        for name, known in (
            *((method, METHODS) for method in self.methods),
            *((albedo, ALBEDOS) for albedo in self.albedos),
        ):
            if name not in known:
                raise InvalidInputError(f"'{name}' is not known; there are {', '.join(known)}.")

    def volume(self, shape: Shape, method: Method) -> float:
        """Best volume of a shape for a method, or of what stands in for it."""
        if self.meshes is None:
            return shape.stand_in_volume
        return shape.prior_volume if method.is_prior else shape.volume

    def scene(self, shape: Shape, albedo: str) -> Scene:
        """A rendered data set."""
        synth = rendering(shape, albedo, self.protocol, self.height, self.meshes, self.lights)
        return Scene(name=f"{shape.name}_{albedo}", synth=synth)

    def main(self) -> list[Cell]:
        """Methods × shapes × albedos."""
        return [
            _cell(name, METHODS[name], self.scene(shape, albedo), self.volume(shape, METHODS[name]))
            for shape in map(shape_of, self.shapes)
            for albedo in self.albedos
            for name in self.methods
            if name != "woodham"
        ]

    def real_cells(self) -> list[Cell]:
        """Methods × real captures; one-light sets are mixed, but for calibrated methods."""
        cells = []
        for folder in self.real:
            if not folder.is_dir():
                raise InvalidInputError(f"{folder}: no such folder; check --real.")
            lit = (folder / "light_directions.txt").is_file()
            for name in self.methods:
                mixed = _MIXTURES if lit and name != "woodham" else 0
                scene = Scene(name=folder.name, folder=str(folder.resolve()), mixed=mixed)
                cells.append(_cell(name, METHODS[name], scene, 0.15, study="real", use=None))
        return cells

    def studies(self) -> list[Cell]:
        """Error of the published method against volume and smoothness; of both against M."""
        cells = []
        for shape_name, albedo in STUDY_PAIRS:
            if shape_name not in self.shapes:
                continue
            shape = shape_of(shape_name)
            paper = METHODS["paper"]
            scene, volume = self.scene(shape, albedo), self.volume(shape, paper)
            for value in VOLUMES:
                cells.append(_cell("paper", paper, scene, value, study="volume", value=value))
            for value in SMOOTHNESSES:
                options = msgspec.structs.replace(
                    paper.options,
                    paper=msgspec.structs.replace(paper.options.paper, albedo_smoothness=value),
                )
                method = Method(paper.label, options, wants_volume=True)
                cells.append(_cell("paper", method, scene, volume, study="smoothness", value=value))
            for number in NUMBERS:
                for name in ("paper", "default"):
                    cells.append(
                        _cell(
                            name,
                            METHODS[name],
                            scene,
                            volume,
                            study="photos",
                            value=number,
                            use=number,
                        )
                    )
        return cells


def has_truth(folder: Path) -> bool:
    """Whether the normals of a real capture are known."""
    return any((folder / name).is_file() for name in (*TRUTH_NAMES, "Normal_gt.mat"))


def _cell(
    name: str,
    method: Method,
    scene: Scene,
    volume: float,
    *,
    study: str = "main",
    value: float | None = None,
    use: int | None = USED,
) -> Cell:
    options: RunOptions = msgspec.structs.replace(method.options, use=use)
    if method.wants_volume:
        options = msgspec.structs.replace(options, volume=volume)
    return Cell(
        method=name,
        scene=scene,
        options=options,
        wants_truth=method.wants_truth,
        study=study,
        value=value,
    )
