"""Reductions of the images to small systems: one pass over the photos each."""
