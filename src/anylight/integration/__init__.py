"""From normals to heights: smooth, robust, with jumps."""
