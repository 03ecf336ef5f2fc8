#version 450
// SPDX-License-Identifier: BSD-2-Clause
//
// The 8x8 inverse DCT of VP9 with the structure of published measurements: eight invocations a
// block, 16-bit coefficients and 8-bit pixels accessed one by one, a transpose through shared
// memory. LOCAL: invocations of a workgroup. ONE: a subgroup does one block with half of its lanes,
// and chooses the row to be stored by a chain of conditions.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = LOCAL) in;
layout(std430, binding = 0) buffer Plane { uint8_t pixels[]; };
layout(std430, binding = 1) readonly buffer Coefficients { int16_t coeffs[]; };
layout(std430, binding = 2) readonly buffer Blocks { uint places[]; };
layout(push_constant) uniform Push { uint stride; };
#ifdef ONE
const uint PER = 16;
#else
const uint PER = 8;
#endif
shared int rows[LOCAL / PER * 64];
void turn(inout int a, inout int b, int c, int s) {
  int x = (a * c - b * s + 8192) >> 14; b = (a * s + b * c + 8192) >> 14; a = x;
}
void halves(inout int a, inout int b) {
  int x = ((a + b) * 11585 + 8192) >> 14; b = ((a - b) * 11585 + 8192) >> 14; a = x;
}
void butterfly(inout int a, inout int b) { int x = a + b; b = a - b; a = x; }
void transform8(inout int x0, inout int x1, inout int x2, inout int x3, inout int x4,
           inout int x5, inout int x6, inout int x7) {
  halves(x0, x4); turn(x2, x6, 6270, 15137); turn(x1, x7, 3196, 16069); turn(x5, x3, 13623, 9102);
  butterfly(x0, x6); butterfly(x4, x2); butterfly(x1, x5); butterfly(x7, x3); halves(x3, x5);
  int e0 = x0, e1 = x4, e2 = x2, e3 = x6, o4 = x1, o5 = x5, o6 = x3, o7 = x7;
  x0 = e0 + o7, x7 = e0 - o7; x1 = e1 + o6, x6 = e1 - o6;
  x2 = e2 + o5, x5 = e2 - o5; x3 = e3 + o4, x4 = e3 - o4;
}
void add(uint at, int r) { pixels[at] = uint8_t(clamp(int(pixels[at]) + ((r + 16) >> 5), 0, 255)); }
void main() {
  uint lane = gl_LocalInvocationID.x % PER, local = gl_LocalInvocationID.x / PER;
  uint block = gl_WorkGroupID.x * (LOCAL / PER) + local;
  uint own = local * 64; int x0, x1, x2, x3, x4, x5, x6, x7;
#ifdef ONE
  if (lane < 8) {
#endif
  uint from = block * 64 + lane;
  x0 = coeffs[from], x1 = coeffs[from + 8], x2 = coeffs[from + 16], x3 = coeffs[from + 24];
  x4 = coeffs[from + 32], x5 = coeffs[from + 40], x6 = coeffs[from + 48], x7 = coeffs[from + 56];
  transform8(x0, x1, x2, x3, x4, x5, x6, x7);
  uint to = own + lane * 8;
  rows[to] = x0; rows[to + 1] = x1; rows[to + 2] = x2; rows[to + 3] = x3;
  rows[to + 4] = x4; rows[to + 5] = x5; rows[to + 6] = x6; rows[to + 7] = x7;
#ifdef ONE
  }
#endif
  barrier();
#ifdef ONE
  if (lane < 8) {
#endif
  uint first = own + lane;
  x0 = rows[first], x1 = rows[first + 8], x2 = rows[first + 16], x3 = rows[first + 24];
  x4 = rows[first + 32], x5 = rows[first + 40], x6 = rows[first + 48], x7 = rows[first + 56];
  transform8(x0, x1, x2, x3, x4, x5, x6, x7);
  uint place = places[block] + lane;
#ifdef ONE
  for (uint r = 0; r < 8; r++) {
    int v = r == 0 ? x0 : r == 1 ? x1 : r == 2 ? x2 : r == 3 ? x3 : r == 4 ? x4 : r == 5 ? x5 : r == 6 ? x6 : x7;
    add(place + r * stride, v);
  }
  }
#else
  add(place, x0); add(place + stride, x1); add(place + 2 * stride, x2); add(place + 3 * stride, x3);
  add(place + 4 * stride, x4); add(place + 5 * stride, x5); add(place + 6 * stride, x6); add(place + 7 * stride, x7);
#endif
}
