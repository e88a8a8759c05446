"""What a run leaves, and how it is asked for: its folder, its record, its command line."""
