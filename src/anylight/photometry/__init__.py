"""How light becomes intensity: harmonics, environments, shading."""
