"""What may be asked of the renderer: the one declaration behind the API and the command line."""

from typing import Literal

import msgspec

from anylight.errors import InvalidInputError

from .albedos import AlbedoKind


class SynthOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to render a capture with a known answer."""

    shape: str = "bust"
    """Embedded shape (bust, coral, drapery, medallion, pit, rings, sphere, vase), or a mesh file
    (PLY, OBJ, GLB; front towards +z, y up; needs the extra 'synth')."""
    albedo: AlbedoKind = "voronoi"
    """Painting on the surface; the nine of the paper, natural in place of lena."""
    lights: str = "builtin"
    """'builtin' (25 embedded environments) or a folder of latitude-longitude .hdr/.exr maps."""
    protocol: Literal["mesh", "depth"] = "mesh"
    """Which normals are shaded: the surface's true ones at pixel centres (mesh, honest), or those
    by finite differences of the depth map (depth, what most benchmarks do)."""
    stencil: Literal["central", "forward"] = "central"
    """Finite differences of --protocol depth; one-sided at the rim."""
    images: int = 25
    """Number of photos, each under its own light."""
    height: int = 480
    """Image height in pixels; the object fills 92 % of the tighter side."""
    width: int | None = None
    """Image width in pixels; square if not given."""
    focal: float = 1.3
    """Focal length in image heights."""
    orthographic: bool = False
    """Parallel rays instead of a perspective camera; depth is then in pixels."""
    supersample: int = 1
    """Average S×S samples in every pixel (protocol mesh)."""
    lamp_distance: float | None = None
    """Distance of all lamps from the middle of the object, in object sizes (its longer side in the
    photo): they light the nearer side more. Far away if not given."""
    cast_shadows: bool = False
    """Trace which part of the environment every point sees."""
    bounces: int = 0
    """Trace paths with so many bounces of light (1: direct light with its shadows, 6: nearly all);
    0: our own renderer. Needs the extra 'pathtrace'."""
    gloss: float | None = None
    """Roughness of a clear coat over the paint, 0.05 (polished) to 0.5 (satin); needs --bounces."""
    noise: float = 0.0
    """Standard deviation of Gaussian noise, in units of white."""
    bits: Literal[8, 16] = 16
    """Bits per sample of the PNG files."""
    seed: int = 0
    """Moves the albedo's cells, turns the environments, draws the noise."""

    def __post_init__(self) -> None:
        checks = {
            "--images": (self.images >= 3, "must be 3 or more"),
            "--height": (8 <= self.height <= 20000, "must be between 8 and 20000"),
            "--width": (
                self.width is None or 8 <= self.width <= 20000,
                "must be between 8 and 20000",
            ),
            "--focal": (
                0.1 <= self.focal <= 1000,
                "must be between 0.1 and 1000 image heights",
            ),
            "--supersample": (1 <= self.supersample <= 16, "must be between 1 and 16"),
            "--lamp-distance": (
                self.lamp_distance is None or 1 <= self.lamp_distance <= 1e6,
                "must be 1 object size or more",
            ),
            "--bounces": (0 <= self.bounces <= 64, "must be between 0 and 64"),
            "--gloss": (
                self.gloss is None or 0.01 <= self.gloss <= 1,
                "must be between 0.01 and 1",
            ),
            "--noise": (0 <= self.noise <= 1, "must be between 0 and 1"),
            "--seed": (self.seed >= 0, "must not be negative"),
        }
        for name, (is_good, rule) in checks.items():
            if not is_good:
                raise InvalidInputError(f"{name} {rule}.")
        if self.lamp_distance is not None and (self.cast_shadows or self.bounces):
            raise InvalidInputError(
                "--lamp-distance goes with neither --cast-shadows nor --bounces: those trace light "
                "from far away."
            )
        if self.gloss is not None and not self.bounces:
            raise InvalidInputError("--gloss needs --bounces: only the path tracer knows gloss.")
        if self.bounces and (self.protocol == "depth" or self.supersample > 1):
            raise InvalidInputError(
                "--bounces goes with neither --protocol depth nor --supersample: paths meet the "
                "true surface, and every pixel is averaged over its area anyway."
            )
        if self.supersample > 1 and self.protocol == "depth":
            raise InvalidInputError(
                "--supersample needs --protocol mesh: a depth map has one sample per pixel."
            )
