"""Normals without neighbours, and how sure they are."""
