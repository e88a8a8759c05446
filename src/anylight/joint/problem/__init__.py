"""What the photos say: eigen-photos, at every resolution, and how well a surface explains them."""
