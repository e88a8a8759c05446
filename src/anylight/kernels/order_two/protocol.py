"""What a backend can do: reduce the photos to systems that do not grow with their number."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a kernel may see of a problem and its state. Normals are unit vectors."""

    photos: Any
    """The photos in the backend's own layout, from `Kernels.pack`."""
    scale: float
    """Factor from stored values to normalised intensity."""
    normals: Float[np.ndarray, "3 P"]
    albedo: Float[np.ndarray, "C P"]
    lighting: Float[np.ndarray, "M C K"]
    cauchy_scale: float


class AlbedoSystem(NamedTuple):
    """Σ w s² and Σ w s I of every pixel: the data term is diagonal in the albedo."""

    diagonal: Float[np.ndarray, "C P"]
    source: Float[np.ndarray, "C P"]


class LightingSystem(NamedTuple):
    """Normal equations of every photo and channel in the nine harmonics of order two."""

    gram: Float[np.ndarray, "M C 9 9"]
    source: Float[np.ndarray, "M C 9"]


class DepthSystem(NamedTuple):
    """Σ w ρ² g gᵀ (xx, xy, xz, yy, yz, zz) and Σ w ρ r g; g: gradient of shading by the normal."""

    blocks: Float[np.ndarray, "6 P"]
    source: Float[np.ndarray, "3 P"]


@runtime_checkable  # for the type checker of the tests
class Kernels(Protocol):
    """A backend."""

    def pack(self, photos: Iterable[np.ndarray], num: int) -> Any:
        """Lay out so many masked photos (C, P), in their own type, for streaming."""
        ...

    def photometric_energy(self, snapshot: Snapshot) -> float:
        """Σ λ² log(1 + r²/λ²), r = ρ ⟨ℓ, h(n)⟩ − I."""
        ...

    def albedo_system(self, snapshot: Snapshot) -> AlbedoSystem:
        """Reweighted least squares in the albedo."""
        ...

    def lighting_system(self, snapshot: Snapshot) -> LightingSystem:
        """Reweighted least squares in the lighting."""
        ...

    def depth_system(self, snapshot: Snapshot) -> DepthSystem:
        """Reweighted, linearised least squares in the normal."""
        ...
