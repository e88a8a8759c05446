"""Captures with a known answer: shapes, albedos, lights, and a renderer."""
