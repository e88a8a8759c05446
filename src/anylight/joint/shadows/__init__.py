"""Light that the surface hides from itself, and the phase of the solver that explains it."""
