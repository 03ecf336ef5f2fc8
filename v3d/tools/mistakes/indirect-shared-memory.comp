#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 16) in;
layout(binding = 0, std430) buffer Block_r { uint r[]; };
shared uint pool[512];
void main() {
  for (uint k = gl_LocalInvocationIndex; k < 512u; k += 16u) pool[k] = gl_WorkGroupID.x * 512u + k;
  barrier();
  if (gl_LocalInvocationIndex == 0u) r[gl_WorkGroupID.x] = pool[511];
}
