#version 450
// SPDX-License-Identifier: BSD-2-Clause
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 4) in;
layout(binding = 0, std430) readonly buffer Block_a { int a[]; };
layout(binding = 1, std430) buffer Block_h { float16_t h[]; };
void main() { h[gl_LocalInvocationIndex] = float16_t(float(a[gl_LocalInvocationIndex])); }
