"""The view in three dimensions that report and studio share: plain WebGL 2, no library."""
