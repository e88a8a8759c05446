"""Files and values: images, captures, archives, meshes."""
