#version 450
// SPDX-License-Identifier: BSD-2-Clause
layout(local_size_x = 8) in;
layout(binding = 0, std430) buffer Block_r { uint r[]; };
shared uint number;
void main() {
  if (gl_LocalInvocationIndex == 0u) number = gl_WorkGroupID.x;
  barrier();
  if (number == 1u) r[gl_GlobalInvocationID.x] = 5u;
}
