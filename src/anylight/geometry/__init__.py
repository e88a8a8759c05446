"""Cameras, masked domains, finite differences and normals."""
