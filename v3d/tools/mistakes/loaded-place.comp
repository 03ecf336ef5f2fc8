#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 4) in;
layout(binding = 0, std430) readonly buffer Block_a { uint a[]; };
layout(binding = 1, std430) buffer Block_r { uint r[]; };
void main() {
  if (gl_LocalInvocationIndex != 0u) r[gl_LocalInvocationIndex] = a[r[0] & 3u];
}
