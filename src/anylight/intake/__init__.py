"""Photos as people have them: from any folder or file to a capture."""
