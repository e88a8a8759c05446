"""Passes over the photos for light of order two, the published method's."""
