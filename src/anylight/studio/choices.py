"""What was chosen by hand, and the run that it asks for."""

from typing import Any, Literal

import msgspec

from anylight.errors import InvalidInputError
from anylight.intake.options import IntakeOptions
from anylight.model.options import field_names, made
from anylight.model.scale import ScaleOptions
from anylight.pipeline import RunOptions
from anylight.runs.folder import OutputOptions

Group = dict[str, Any]


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be chosen, with what holds if nobody does."""

    left_out: tuple[str, ...] = ()
    """Names of the photos that are switched off."""
    camera: Literal["found", "focal", "orthographic", "photos"] = "found"
    """The camera of the files, a focal length, parallel rays, or what the photos support best."""
    focal_35mm: float | None = None
    """With the choice focal: in mm on 35 mm film."""
    scale_points: tuple[float, float, float, float] | None = None
    """Two points of the photos, in their own pixels."""
    scale_mm: float | None = None
    """Distance between them."""
    volume: float | None = None
    """Of the balloon to start from; None: automatic."""
    options: Group = {}
    """Fields of `RunOptions` that are not the defaults."""
    settings: dict[str, Group] = {}
    """By method: fields of its options that are not the defaults."""
    intake: Group = {}
    output: Group = {}

    def method(self) -> str:
        """Name of the method that will run."""
        return self.run_options().chosen().name

    def run_options(self) -> RunOptions:
        """What to compute."""
        return made(RunOptions, self.options, "a run")

    def asked(self) -> dict[str, msgspec.Struct]:
        """All options by the name that the record has for them.

        Raises:
            InvalidInputError: something does not exist, or goes with nothing else.
        """
        options = self.run_options()
        method = options.chosen()
        settings = dict(self.settings.get(method.name, {}))
        if self.volume is not None and "volume" in field_names(method.options):
            settings["volume"] = self.volume
        intake = dict(self.intake)
        if self.camera == "focal":
            intake["focal_35mm"] = self.focal_35mm
        if self.camera == "orthographic":
            intake["orthographic"] = True
        if self.camera == "focal" and self.focal_35mm is None:
            raise InvalidInputError("choose a focal length.")
        scale = ScaleOptions()
        if self.scale_points is not None and self.scale_mm is not None:
            numbers = (*self.scale_points, self.scale_mm)
            scale = ScaleOptions(scale_points=",".join(f"{number:g}" for number in numbers))
        return {
            "options": options,
            "settings": made(method.options, settings, f"the method {method.name}"),
            "intake": made(IntakeOptions, intake, "the reading of photos"),
            "scale": scale,
            "output": made(OutputOptions, self.output, "the output"),
        }


def changed(choices: Choices, changes: Group) -> Choices:
    """Other choices, checked.

    Raises:
        InvalidInputError: what was changed does not exist, or asks for something impossible.
    """
    other = made(Choices, {**msgspec.to_builtins(choices), **changes}, "the studio")
    other.asked()
    return other


def chosen(choices: Choices, path: list[str], value: Any) -> Choices:
    """Other choices: one is changed, named by the way to it; None takes a choice back.

    Raises:
        InvalidInputError: there is no such choice, or it asks for something impossible.
    """
    top = path[0]
    if len(path) == 1:
        return changed(choices, {top: value})
    given: Any = msgspec.to_builtins(choices).get(top)
    given = {} if given is None else given
    inner = given
    for name in path[1:-1]:
        inner = inner.setdefault(name, {}) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        raise InvalidInputError("this is not what the page sends.")
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return changed(choices, {top: given})
