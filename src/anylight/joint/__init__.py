"""The default method: shape and light found together, albedo eliminated."""
