"""Uncalibrated photometric stereo under general lighting.

Photos of one object, from one viewpoint, under any unknown light in; a real 3-D surface with its
colours and the light of every photo out.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anylight.errors import InvalidInputError as InvalidInputError
    from anylight.geometry.camera import Orthographic as Orthographic
    from anylight.geometry.camera import Perspective as Perspective
    from anylight.intake.load import load_capture as load_capture
    from anylight.intake.options import IntakeOptions as IntakeOptions
    from anylight.io.archive import load_reconstruction as load_reconstruction
    from anylight.io.archive import save_reconstruction as save_reconstruction
    from anylight.io.capture import save_capture as save_capture
    from anylight.metrics import Metrics as Metrics
    from anylight.metrics import evaluate as evaluate
    from anylight.model.capture import Capture as Capture
    from anylight.model.reconstruction import Reconstruction as Reconstruction
    from anylight.pipeline import Result as Result
    from anylight.pipeline import RunOptions as RunOptions
    from anylight.pipeline import reconstruct as reconstruct
    from anylight.synth.options import SynthOptions as SynthOptions
    from anylight.synth.render import Rendering as Rendering
    from anylight.synth.render import render as render

__version__ = "0.1.0.dev0"

_HOMES = {
    "InvalidInputError": "anylight.errors",
    "Orthographic": "anylight.geometry.camera",
    "Perspective": "anylight.geometry.camera",
    "load_capture": "anylight.intake.load",
    "IntakeOptions": "anylight.intake.options",
    "load_reconstruction": "anylight.io.archive",
    "save_reconstruction": "anylight.io.archive",
    "save_capture": "anylight.io.capture",
    "Metrics": "anylight.metrics",
    "evaluate": "anylight.metrics",
    "Capture": "anylight.model.capture",
    "Reconstruction": "anylight.model.reconstruction",
    "Result": "anylight.pipeline",
    "RunOptions": "anylight.pipeline",
    "reconstruct": "anylight.pipeline",
    "SynthOptions": "anylight.synth.options",
    "Rendering": "anylight.synth.render",
    "render": "anylight.synth.render",
}
"""Where every public name lives; it is loaded when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anylight' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
