#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 4) in;
layout(binding = 0, std430) readonly buffer Block_x { float x[]; };
layout(binding = 1, std430) buffer Block_r { int r[]; };
void main() { r[gl_LocalInvocationIndex] = int(sign(x[gl_LocalInvocationIndex])); }
