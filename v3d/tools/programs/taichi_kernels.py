# SPDX-License-Identifier: BSD-2-Clause
"""Taichi: the same kernels on Vulkan and on the processor."""

import numpy as np
import report
import taichi as ti

BODIES, SIDE = 96, 48


def results() -> dict[str, np.ndarray]:
    """What each kernel computes on the architecture that is set."""
    place = ti.Vector.field(2, ti.f32, shape=BODIES)
    speed = ti.Vector.field(2, ti.f32, shape=BODIES)
    grid = ti.field(ti.i32, shape=(2, SIDE, SIDE))
    total = ti.field(ti.i32, shape=())

    @ti.kernel
    def attract(dt: ti.f32):
        for i in place:
            force = ti.Vector([0.0, 0.0])
            for j in range(BODIES):
                apart = place[j] - place[i]
                force += apart / (apart.norm_sqr() + 0.05) ** 1.5
            speed[i] += dt * force
        for i in place:
            place[i] += dt * speed[i]

    @ti.kernel
    def live(now: ti.i32):
        for y, x in ti.ndrange(SIDE, SIDE):
            n = -grid[now, y, x]
            for dy, dx in ti.static(ti.ndrange((-1, 2), (-1, 2))):
                n += grid[now, (y + dy + SIDE) % SIDE, (x + dx + SIDE) % SIDE]
            alive = ti.cast(n == 3 or (n == 2 and grid[now, y, x] == 1), ti.i32)
            grid[1 - now, y, x] = alive
            total[None] += alive * (y * SIDE + x)

    random = np.random.default_rng(7)
    place.from_numpy(random.random((BODIES, 2), dtype=np.float32))
    speed.fill(0)
    for _ in range(4):
        attract(0.001)
    grid.from_numpy(random.integers(0, 2, (2, SIDE, SIDE), dtype=np.int32))
    for step in range(6):
        live(step % 2)
    return {
        "attraction of bodies": place.to_numpy(),
        "game of life": grid.to_numpy(),
        "sum by atomics": total.to_numpy(),
    }


ti.init(arch=ti.cpu)
expected = results()
ti.reset()
ti.init(arch=ti.vulkan)
if ti.lang.impl.current_cfg().arch != ti.vulkan:
    raise SystemExit("Taichi finds no Vulkan device")
for name, found in results().items():
    report.compared(name, found, expected[name], 1e-5 if found.dtype == np.float32 else 0)
