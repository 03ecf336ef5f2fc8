#version 450
// SPDX-License-Identifier: BSD-2-Clause
// r[i] = i * i + 7
layout(local_size_x = 64) in;
layout(binding = 0, std430) writeonly buffer Result { uint r[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  r[i] = i * i + 7u;
}
