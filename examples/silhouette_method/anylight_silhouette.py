"""A method of another package: blow up the outline and look at nothing else.

A baseline that every method should beat, and the smallest complete example of one.

Try: pip install examples/silhouette_method, then anylight run photos/ --method silhouette
"""

import msgspec
import numpy as np

import anylight


class SilhouetteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How far the outline is blown up."""

    fullness: float = 0.15
    """Mean height over the square root of the pixel count."""

    def __post_init__(self) -> None:
        if not 0 < self.fullness < 1:
            raise anylight.InvalidInputError("--fullness must be between 0 and 1.")


def run(capture: anylight.Capture, options: SilhouetteOptions):  # type: ignore[no-untyped-def]
    """Yield progress, return a solution."""
    yield anylight.Progress(0.0, "blowing up")
    domain = capture.domain()
    balloon = anylight.inflate(domain, options.fullness)
    height = domain.scatter(balloon.height, fill=0.0)
    down, right = np.gradient(height)
    normals = np.stack([-right, -down, -np.ones_like(height)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    yield anylight.Progress(0.5, "integrating")
    depth = anylight.integrate(capture.camera, domain, domain.gather(normals))
    scene = anylight.Reconstruction(
        mask=np.array(capture.mask),
        camera=capture.camera,
        depth=domain.scatter(depth),
        normals=domain.scatter(domain.gather(normals)),
    )
    return anylight.Solution(scene, record={"volume": float(balloon.volume.mean())})


SILHOUETTE = anylight.Method(
    name="silhouette",
    label="silhouette, blown up",
    summary="the outline, blown up; looks at no photo",
    options=SilhouetteOptions,
    run=run,
)
