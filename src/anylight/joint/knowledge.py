"""How firmly the photos hold tilt and relief: the energy's curvature along the gauge."""

import numpy as np

from .gauge import GaugeKnowledge
from .level import Level
from .modes import smooth_modes
from .newton import Estimate, robust_energy
from .system import Damping, System

_DAMPING = Damping(1e-6, 1e-7)
_RTOL = 0.02
_ITERATIONS = 40


def gauge_knowledge(level: Level, state: Estimate) -> GaugeKnowledge:
    """Measure the curvature with surface detail and light adapting to every strain."""
    none = np.zeros((3, 3))
    system = System(
        level,
        state.surface,
        state.light,
        state.fit,
        state.weights(level),
        none,
        smooth_modes(level, state.surface),
    )
    system.damp(_DAMPING)
    still = np.zeros_like(state.light)
    answers = [
        system.solve(_RTOL, _ITERATIONS, (direction, still)).surface for direction in system.strains
    ]
    give = np.array([[np.vdot(g, x) for x in answers] for g in system.strains])
    energy = robust_energy(level, state.fit.misfit, state.scale) * level.cover.sum(dtype=float)
    size, axes = np.linalg.eigh((give + give.T) / 2)
    size = np.maximum(size, max(1e-12 * float(size.max()), 1e-30))
    return GaugeKnowledge((axes / size) @ axes.T / max(energy, 1e-30))
