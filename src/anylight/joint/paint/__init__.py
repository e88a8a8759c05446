"""Albedo and light, shape held."""
