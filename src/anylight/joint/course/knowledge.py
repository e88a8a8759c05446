"""How firmly the photos hold tilt and relief: the energy's curvature along the gauge."""

import numpy as np

from anylight.facets.modes import smooth_modes
from anylight.joint.problem.pyramid import PyramidLevel
from anylight.joint.step.newton import Iterate, robust_energy
from anylight.joint.step.system import Damping, System, Unknowns
from anylight.joint.terms.gauge import GaugeKnowledge, strain_gradient
from anylight.linalg.stencil import inner

_DAMPING = Damping(1e-6, 1e-7)
"""So little that it does not count: the curvature itself is wanted. (guard)"""
_RTOL = 0.2
"""When conjugate gradients stop. [relative residual]"""
_ITERATIONS = 40
"""Steps of conjugate gradients, at most. [steps]"""


def gauge_knowledge(level: PyramidLevel, state: Iterate) -> GaugeKnowledge:
    """Measure the curvature with surface detail and light adapting to every strain."""
    system = System(
        level,
        state.surface,
        state.light,
        state.fit,
        state.weights(level),
        smooth_modes(level, state.surface),
    )
    if not system.damp(_DAMPING):
        return GaugeKnowledge(np.zeros((3, 3)))
    still = np.zeros_like(state.light)
    directions = strain_gradient(level, state.fit.unit, state.fit.length)
    answers = [
        system.solve(_RTOL, _ITERATIONS, Unknowns(direction, still)).surface
        for direction in directions
    ]
    give = np.array([[inner(g, x) for x in answers] for g in directions])
    energy = robust_energy(level, state.fit.misfit, state.scale) * level.cover.sum(dtype=float)
    if not np.isfinite(give).all():
        return GaugeKnowledge(np.zeros((3, 3)))
    size, axes = np.linalg.eigh((give + give.T) / 2)
    size = np.maximum(size, max(1e-12 * float(size.max()), 1e-30))
    return GaugeKnowledge((axes / size) @ axes.T / max(energy, 1e-30))
