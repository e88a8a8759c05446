import shlex
from pathlib import Path

import pytest
import tyro

from anylight.cli.run import Run
from anylight.intake.options import IntakeOptions
from anylight.joint.options import DefaultOptions
from anylight.model.scale import ScaleOptions
from anylight.paper.options import PaperOptions
from anylight.pipeline import RunOptions
from anylight.runs.command import command_words, quoted
from anylight.runs.folder import OutputOptions

NASTY = Path("/tmp/a 'b' $(touch x); --out \"c\"")


@pytest.mark.parametrize(
    "asked",
    [
        {
            "options": RunOptions(),
            "settings": DefaultOptions(volume=0.21, shadows="off", flip=True),
            "intake": IntakeOptions(focal_35mm=85.5, crop=True, downscale=2),
            "scale": ScaleOptions(scale_points="10.5,20,110,30,42"),
            "output": OutputOptions(normal_format="directx"),
        },
        {
            "options": RunOptions(method="paper", use=5),
            "settings": PaperOptions(iterations=7, volume_px=12.0),
            "intake": IntakeOptions(orthographic=True),
            "scale": ScaleOptions(),
            "output": OutputOptions(),
        },
    ],
)
def test_the_line_asks_for_the_same_run(asked):
    """Whatever the names are, a shell and our own parser read the same options again."""
    words = shlex.split(quoted(command_words(NASTY, NASTY / "out", asked)))
    assert words[:2] == ["anylight", "run"]
    run = tyro.cli(
        Run,
        args=words[2:],
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )
    assert run.capture == NASTY
    assert run.out == NASTY / "out"
    assert run.asked() == asked
