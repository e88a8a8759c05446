"""Lamps that are near, exactly: where a pixel is counts as much as where it faces."""
