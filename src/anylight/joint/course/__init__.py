"""Which steps, in which order: starts, orders, resolutions."""
