"""What else costs energy besides the photos."""
