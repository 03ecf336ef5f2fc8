# SPDX-License-Identifier: BSD-2-Clause
"""wgpu: compute shaders in WGSL and in GLSL, compared with NumPy."""

import sys

import numpy as np
import report
import wgpu
from wgpu.utils.compute import compute_with_buffers

REVERSE = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
var<workgroup> kept: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(local_invocation_index) i: u32) {
  kept[i] = a[at.x];
  workgroupBarrier();
  r[at.x] = kept[63u - i] * 3u + countOneBits(kept[i]);
}
"""
PRODUCT = """
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> r: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
  if (at.x >= 40u || at.y >= 24u) { return; }
  var sum = 0.0;
  for (var k = 0u; k < 32u; k++) { sum += a[at.y * 32u + k] * b[k * 40u + at.x]; }
  r[at.y * 40u + at.x] = sum;
}
"""
COUNT = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<atomic<u32>>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) at: vec3<u32>) { atomicAdd(&r[a[at.x] >> 28u], 1u); }
"""

# Steps until a number is 1 by Collatz's rule, in GLSL.
STEPS = """#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0, std430) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1, std430) buffer R { uint r[]; };
uint after(uint n) { return (n & 1u) == 0u ? n >> 1 : 3u * n + 1u; }
void main() {
  uint n = a[gl_GlobalInvocationID.x];
  uint steps = 0u;
  while (n > 1u) { n = after(n); steps += 1u; }
  r[gl_GlobalInvocationID.x] = steps;
}
"""


def run_glsl(device: wgpu.GPUDevice, code: str, a: np.ndarray, groups: int) -> np.ndarray:
    """Runs GLSL on buffers a, at binding 0, and another one of its size, which is returned."""
    module = device.create_shader_module(label="comp", code=code)
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )
    storage = wgpu.BufferUsage.STORAGE
    read = device.create_buffer_with_data(data=a, usage=storage)
    out = device.create_buffer(size=a.nbytes, usage=storage | wgpu.BufferUsage.COPY_SRC)
    bound = [{"binding": i, "resource": {"buffer": b}} for i, b in enumerate((read, out))]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=bound)
    commands = device.create_command_encoder()
    compute = commands.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups(groups)
    compute.end()
    device.queue.submit([commands.finish()])
    return words(device.queue.read_buffer(out))


def words(memory: memoryview, kind: type = np.uint32) -> np.ndarray:
    return np.frombuffer(memory, dtype=kind)


def steps(n: int) -> int:
    taken = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        taken += 1
    return taken


def main() -> None:
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    if "V3D" not in adapter.info["device"]:
        sys.exit(f"wgpu finds no V3D but {adapter.info['device']}")
    random = np.random.default_rng(6)
    a = random.integers(0, 1 << 32, 4096, dtype=np.uint32)
    rows = a.reshape(-1, 64)
    expected = rows[:, ::-1] * np.uint32(3) + np.bitwise_count(rows)
    out = compute_with_buffers({0: a}, {1: (a.size, "I")}, REVERSE, n=64)
    report.compared("shared memory and a barrier", words(out[1]), expected.ravel(), 0)
    left, right = (random.random(s, dtype=np.float32) for s in ((24, 32), (32, 40)))
    out = compute_with_buffers({0: left, 1: right}, {2: (24 * 40, "f")}, PRODUCT, n=(5, 3, 1))
    product = words(out[2], np.float32).reshape(24, 40)
    report.compared("matrix product", product, left @ right, 1e-5)
    numbers = np.arange(1024, dtype=np.uint32)
    found = run_glsl(adapter.request_device_sync(), STEPS, numbers, numbers.size // 32)
    report.compared("GLSL with loops", found, np.array([steps(int(n)) for n in numbers]), 0)
    out = compute_with_buffers({0: a}, {1: (16, "I")}, COUNT, n=a.size // 32)
    counts = np.bincount(a >> 28, minlength=16)
    report.compared("atomics in memory that was used before", words(out[1]), counts, 0)


main()
