#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 24) in;
layout(binding = 0, std430) buffer Block_r { uint r[]; };
shared uint pool[24];
void main() {
  uint local = gl_LocalInvocationIndex;
  pool[local] = local + 1u;
  if (gl_WorkGroupID.x == 0u) {
    barrier();
    r[local] = pool[23u - local];
  }
}
