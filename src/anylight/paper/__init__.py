"""The published solver: one module per block, and the loop that alternates them."""
