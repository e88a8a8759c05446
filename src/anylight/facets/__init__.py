"""A surface of facets: heights at the corners of pixels, at several resolutions."""
