"""The first depth: inflate the silhouette, or integrate normals."""
