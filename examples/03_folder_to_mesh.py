"""From a folder of photos without mask and intrinsics to a textured mesh in millimetres.

Run: python examples/03_folder_to_mesh.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import anylight

options = anylight.SynthOptions(shape="vase", albedo="bars", images=10, height=64)
photographed = anylight.render(options).capture

with TemporaryDirectory() as name:
    photos, result = Path(name) / "photos", Path(name) / "result"
    for folder in (photos, result):
        folder.mkdir()
    for index, photo in enumerate(photographed.photos):
        picture = anylight.radiance_picture(photo / photographed.full_scale)
        anylight.write_image(photos / f"{index}.jpg", picture)

    capture = anylight.load_capture(photos, anylight.IntakeOptions(fov=42))
    print(f"{capture.num_photos} photos, {capture.mask.mean():.0%} of the frame is object")

    free = anylight.reconstruct(capture).reconstruction
    scene = anylight.to_scale(free, anylight.ScaleOptions(), distance=500)
    anylight.export_scene(result, scene, capture.names)

    for path in sorted(result.rglob("*")):
        if path.is_file() and path.parent.name != "preview":
            print(f"{path.stat().st_size:9d}  {path.relative_to(result).as_posix()}")

mesh = anylight.surface_mesh(scene)
width, height, depth = mesh.vertices.max(0) - mesh.vertices.min(0)
print(f"{len(mesh.vertices)} vertices, {len(mesh.faces)} triangles, ", end="")
print(f"{width:.0f} × {height:.0f} × {depth:.0f} {mesh.unit}")
