#version 450
// SPDX-License-Identifier: BSD-2-Clause
// r[i] = r[i] * 3 + 1, after a while
layout(local_size_x = 64) in;
layout(binding = 0, std430) buffer Result { uint r[]; };

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint x = r[i];
  for (uint n = 0u; n < 3000u; n++)
    x = (x ^ n) + 5u - (n & 3u);
  // Undone, so that the loop is needed for the result.
  for (uint n = 2999u; n < 3000u; n--)
    x = (x - 5u + (n & 3u)) ^ n;
  r[i] = x * 3u + 1u;
}
