"""What a run leaves for other programs: meshes, maps, lights and pictures."""
