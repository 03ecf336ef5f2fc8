#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 4) in;
layout(binding = 0, std430) readonly buffer Block_a { uint a[]; };
layout(binding = 1, std430) buffer Block_r { uint r[]; };
layout(push_constant) uniform Push { uint pushed[4]; };
void main() { r[gl_LocalInvocationIndex] = a[pushed[gl_LocalInvocationIndex]]; }
