"""Small runs to tell: a ball in front of a wall."""

from dataclasses import replace

import numpy as np

from anylight.geometry.camera import Orthographic, Perspective
from anylight.model.finding import Finding
from anylight.model.reconstruction import Reconstruction
from anylight.photometry.harmonics import num_harmonics
from anylight.photometry.shading import intensity
from anylight.report.story import Story

NASTY = "<img src=x onerror=alert(1)>\"'&.png"
TITLE = "</script><script>alert(1)</script>"


def ball_scene(height=60, width=80, channels=3, photos=4, order=2, parallel=False, seed=3):
    """A half ball that stands out of a disc behind it; the depth jumps at its rim."""
    rng = np.random.default_rng(seed)
    v, u = np.mgrid[:height, :width].astype(float)
    x, y = u - (width - 1) / 2, v - (height - 1) / 2
    radius = 0.3 * height
    square = x**2 + y**2
    mask = square < (0.47 * height) ** 2
    on_ball = square < (0.98 * radius) ** 2
    rise = np.sqrt(np.maximum(radius**2 - square, 0))
    height_px = np.where(on_ball, rise + radius, 0.0)
    normals = np.zeros((height, width, 3))
    normals[..., 2] = -1
    normals[on_ball] = np.stack([x, y, -rise], axis=-1)[on_ball] / radius
    centre = ((width - 1) / 2, (height - 1) / 2)
    if parallel:
        camera, depth = Orthographic(centre), -height_px
    else:
        camera = Perspective((20.0 * width, 20.0 * width), centre)
        depth = 20.0 * width - height_px
    albedo = rng.uniform(0.3, 1, (height, width, channels))
    lighting = 0.05 * rng.normal(size=(photos, channels, num_harmonics(order)))
    lighting[..., 0] = 2.0
    for image in (depth, normals, albedo):
        image[~mask] = np.nan
    return Reconstruction(
        mask, camera, depth, normals, albedo, lighting, confidence=np.where(mask, 0.5, np.nan)
    )


def story_of(scene, noise=0.01, seed=4, dtype=np.uint16, **changes):
    """Tell a scene whose photos were taken with noise."""
    rng = np.random.default_rng(seed)
    photos, channels, _ = scene.lighting.shape
    clean = intensity(scene.albedo[scene.mask].T, scene.lighting, scene.normals[scene.mask])
    radiance = np.zeros((photos, *scene.mask.shape, channels))
    radiance[:, scene.mask] = np.moveaxis(clean, 1, 2)
    radiance += noise * rng.normal(size=radiance.shape)
    full_scale = 1.0
    if np.dtype(dtype).kind == "u":
        full_scale = float(np.iinfo(dtype).max)
        radiance = np.clip(np.round(radiance * full_scale), 0, full_scale)
    story = Story(
        title="a ball",
        scene=scene,
        photos=radiance.astype(dtype),
        full_scale=full_scale,
        names=tuple(f"photo{index}.png" for index in range(photos)),
        before=(Finding("good", "photos", "Enough photos."),),
        after=(Finding("warning", "lights", "All from one side.", "Walk around the object."),),
        energies=(("coarse", 0.3), ("coarse", 0.2), ("fine", 0.01), ("fine", 0.005)),
        facts={"status": "finished", "seconds": "1.5"},
        options={"preset": "default", "joint": {"order": 2}},
        versions={"anylight": "0"},
    )
    return replace(story, **changes)
