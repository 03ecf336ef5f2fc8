#version 450
// SPDX-License-Identifier: BSD-2-Clause
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 24) in;
layout(binding = 0, std430) buffer Block_r { uint r[]; };
shared uint pool[24];
void main() {
  uint local = gl_LocalInvocationIndex;
  pool[local] = local + 1u;
  if (subgroupElect()) r[48] = 7u;
  if (gl_WorkGroupID.x == 1u) {
    barrier();
    r[local] = pool[23u - local];
  }
}
