"""One Gauss-Newton step for surface and light together."""
