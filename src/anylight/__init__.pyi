"""Every public name, once: what type checkers see, what is loaded on first use, docs/api.md."""

# Reconstruct
from anylight.pipeline import RunOptions as RunOptions
from anylight.pipeline import iterate as iterate
from anylight.pipeline import reconstruct as reconstruct
from anylight.model.result import Result as Result
from anylight.model.status import Status as Status
from anylight.model.reconstruction import Reconstruction as Reconstruction
from anylight.errors import InvalidInputError as InvalidInputError
from anylight.errors import MissingExtraError as MissingExtraError

# Photos in
from anylight.intake.memory import make_capture as make_capture
from anylight.intake.load import load_capture as load_capture
from anylight.intake.options import IntakeOptions as IntakeOptions
from anylight.model.capture import Capture as Capture
from anylight.geometry.camera import Orthographic as Orthographic
from anylight.geometry.camera import Perspective as Perspective
from anylight.geometry.domain import Domain as Domain
from anylight.io.images import read_image as read_image
from anylight.io.images import write_image as write_image

# Results out
from anylight.io.archive import load_reconstruction as load_reconstruction
from anylight.io.archive import save_reconstruction as save_reconstruction
from anylight.io.capture import save_capture as save_capture
from anylight.io.results import load_result as load_result
from anylight.model.scale import ScaleOptions as ScaleOptions
from anylight.model.scale import to_scale as to_scale
from anylight.export.folder import export_scene as export_scene
from anylight.export.surface import SurfaceMesh as SurfaceMesh
from anylight.export.surface import surface_mesh as surface_mesh
from anylight.pictures import radiance_picture as radiance_picture
from anylight.pictures import scene_pictures as scene_pictures
from anylight.integration.best import integrate as integrate

# Known answers
from anylight.synth.options import SynthOptions as SynthOptions
from anylight.synth.render import Rendering as Rendering
from anylight.synth.render import render as render
from anylight.metrics import Metrics as Metrics
from anylight.metrics import evaluate as evaluate

# Methods of your own
from anylight.model.method import Method as Method
from anylight.model.method import NoOptions as NoOptions
from anylight.model.method import Progress as Progress
from anylight.model.method import Iteration as Iteration
from anylight.model.method import Solution as Solution
from anylight.model.method import StopRequestedError as StopRequestedError
from anylight.methods import method_named as method_named
from anylight.methods import registered as registered
from anylight.joint.method import default_method as default_method
from anylight.joint.options import DefaultOptions as DefaultOptions
from anylight.paper.options import PaperOptions as PaperOptions
from anylight.joint.terms.protocol import LinearTerm as LinearTerm
from anylight.joint.terms.protocol import Term as Term
from anylight.facets.grid import FacetGrid as FacetGrid
from anylight.facets.modes import Modes as Modes
from anylight.initial.balloon import inflate as inflate

__version__: str
