"""Print how near the kernels run to the machine's limits: `make bench-speed`.

Times are minima over repeats in one process; limits (memory bandwidth, multiply-adds) are measured
in the same process. Compile time is left out.
"""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
from studies.limits import best, limits

from anylight.geometry.camera import Perspective
from anylight.geometry.domain import Domain
from anylight.initial.balloon import inflate
from anylight.kernels.order_two.cpu import CpuKernels
from anylight.kernels.order_two.protocol import Snapshot
from anylight.kernels.order_two.reference import ReferenceKernels
from anylight.model.capture import Capture
from anylight.pipeline import reconstruct
from anylight.threads import use_threads

PHOTOS, CHANNELS = 20, 3
OBSERVATIONS = PHOTOS * CHANNELS
FLOPS = {"photometric_energy": 24, "albedo_system": 32, "lighting_system": 98, "depth_system": 60}
"""Counted operations per observation and pixel."""
EXTRA_BYTES = {
    "photometric_energy": 24,
    "albedo_system": 48,
    "lighting_system": 24,
    "depth_system": 60,
}
"""Normals, albedo and results per pixel."""


def blob(pixels: int) -> np.ndarray:
    """A bumpy silhouette of about so many pixels, without holes."""
    size = int(np.sqrt(2 * pixels))
    v, u = np.mgrid[:size, :size] - size / 2
    angle = np.arctan2(v, u)
    radius = np.sqrt(pixels / np.pi) * (1 + 0.15 * np.sin(3 * angle) + 0.1 * np.sin(5 * angle + 1))
    return np.hypot(u, v) < radius


def scene(pixels: int) -> Capture:
    """Photos of a bumpy blob, painted, under changing second-order light."""
    mask = blob(pixels)
    rng = np.random.default_rng(0)
    size = mask.shape[0]
    domain = Domain(mask)
    x, y = (domain.pixels - size / 2).T / size
    slope = np.stack([4 * x + 0.5 * np.sin(20 * y), 4 * y + 0.5 * np.cos(17 * x)], -1)
    normals = np.column_stack([slope, -np.ones(domain.size)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    light = rng.standard_normal((PHOTOS, CHANNELS, 3)) * [0.5, 0.5, 0.2] + [0, 0, -0.8]
    albedo = 0.6 + 0.3 * np.sin(30 * x) * np.sin(25 * y)
    photos = np.zeros((PHOTOS, size, size, CHANNELS), np.uint16)
    for index in range(PHOTOS):
        shade = np.clip(normals @ light[index].T + 0.2, 0, 1.5) * albedo[:, None]
        photos[index][mask] = np.round(np.clip(shade / 1.5, 0, 1) * 65535)
    return Capture(photos, mask, Perspective((1.3 * size, 1.3 * size), (size / 2, size / 2)))


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def passes() -> None:
    """Each fused pass against the limit and against its NumPy twin."""
    cores, most = use_threads(None), limits()
    bandwidth, flops = most.bytes_read, most.operations
    say(f"{cores} threads: {bandwidth / 1e9:.1f} GB/s, {flops / 1e9:.0f} GFLOP/s measured here")
    if bandwidth / cores < 10e9 or flops / cores < 50e9:
        say("VOID: the machine is too busy for these numbers to mean anything.")
    capture = scene(250_000)
    masked = np.moveaxis(capture.photos[:, capture.mask, :], 2, 1)
    size = masked.shape[2]
    rng = np.random.default_rng(1)
    normals = rng.standard_normal((3, size))
    normals /= np.linalg.norm(normals, axis=0)
    albedo, lighting = rng.random((CHANNELS, size)), rng.standard_normal((PHOTOS, CHANNELS, 9))
    totals = [0.0, 0.0]
    say(f"{size} pixels, {PHOTOS} photos, {CHANNELS} channels, 16 bit")
    say(f"{'pass':20} {'ms':>7} {'limit':>7} {'ratio':>6} {'NumPy ms':>9} {'faster':>7}")
    for name, count in FLOPS.items():
        cpu, slow = CpuKernels(), ReferenceKernels()
        fast_view = Snapshot(cpu.pack(masked, PHOTOS), 1e-5, normals, albedo, lighting, 0.15)
        slow_view = Snapshot(slow.pack(masked, PHOTOS), 1e-5, normals, albedo, lighting, 0.15)
        fast = best(partial(getattr(cpu, name), fast_view))
        twin = best(partial(getattr(slow, name), slow_view), 1)
        bytes_ = size * (2 * OBSERVATIONS + EXTRA_BYTES[name])
        limit = max(bytes_ / bandwidth, size * OBSERVATIONS * count / flops)
        totals = [totals[0] + fast, totals[1] + twin]
        say(
            f"{name:20} {1e3 * fast:7.1f} {1e3 * limit:7.1f} {fast / limit:6.1f} "
            f"{1e3 * twin:9.0f} {twin / fast:7.0f}"
        )
    say(f"all passes together: {totals[1] / totals[0]:.0f} times faster than the twin")


def iteration_seconds(capture: Capture) -> float:
    """Seconds of all iterations, without balloon and preparations."""
    trace = reconstruct(capture, preset="paper", volume=0.12).trace
    return sum(progress.report.seconds for progress in trace)


def solves() -> None:
    """The whole solve at 250k and 1M pixels, and the balloon."""
    times = {}
    for pixels in (250_000, 1_000_000):
        capture = scene(pixels)
        times[pixels] = min(iteration_seconds(capture) for _ in range(2))
        say(f"20 iterations at {capture.mask.sum()} pixels: {times[pixels]:.1f} s")
    say(f"1M over 250k: {times[1_000_000] / times[250_000]:.2f} times")
    domain = Domain(blob(125_000))
    seconds = best(lambda: inflate(Domain(domain.mask), 40 / np.sqrt(domain.size)))
    exact = inflate(domain, 40 / np.sqrt(domain.size), 1e-7).height
    error = np.abs(inflate(domain, 40 / np.sqrt(domain.size)).height - exact).max() / exact.max()
    shape = "×".join(map(str, domain.mask.shape))
    say(f"balloon at {shape}, {domain.size} pixels: {1e3 * seconds:.0f} ms, {error:.0e} off")


def memory() -> None:
    """Peak memory of a solve at 1M pixels with 16-bit photos."""
    reconstruct(scene(1_000_000), preset="paper", volume=0.12, iterations=10)
    # not getrusage: a child inherits its parent's peak there
    status = Path("/proc/self/status").read_text()
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1e6  # type: ignore[index]
    say(f"peak memory at 1M pixels, 16 bit: {peak:.2f} GB")


if __name__ == "__main__":
    if sys.argv[1:] == ["memory"]:
        memory()
    else:
        passes()
        solves()
        subprocess.run([sys.executable, "-m", "studies.speed", "memory"], check=True)
