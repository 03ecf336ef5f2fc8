#version 450
// SPDX-License-Identifier: BSD-2-Clause
//
// The 8x8 inverse DCT of VP9, added to the prediction; written by hand for the GPU of a Raspberry
// Pi 5, to measure how fast it is simulated.
//
// Source: the VP9 bitstream and decoding process specification, 8.7.1.2 and 8.7.1.3 (inverse DCT,
// n = 3) and 8.7.2 (2D inverse transform); this project states it in dsl/kernels/vp9/idct.py, with
// whose interpreter every run is compared.
//
// Four invocations work on a block, two columns each. The first pass reads coefficients of two
// neighbouring rows as one word; its results go through shared memory in pairs, so that the second
// reads a column as four words. Local arrays would live in memory, so there are none.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require

layout(local_size_x = 64) in;

// Pixels in pairs, the plane that is predicted and becomes the picture.
layout(std430, binding = 0) restrict buffer Plane { uint16_t pixels[]; };
// 64 a block, coeffs[h][v]: two neighbouring v in a word.
layout(std430, binding = 1) restrict readonly buffer Coefficients { uint coeffs[]; };
// Where a block's upper left pixels are, in pairs.
layout(std430, binding = 2) restrict readonly buffer Blocks { uint places[]; };
layout(push_constant) uniform Push { uint stride; };  // pairs from a row to the next

shared uint rows[16 * 32];  // [block][column][pair of rows]

void turn(inout ivec2 a, inout ivec2 b, int c, int s) {
  ivec2 x = (a * c - b * s + 8192) >> 14;
  b = (a * s + b * c + 8192) >> 14;
  a = x;
}

void halves(inout ivec2 a, inout ivec2 b) {
  ivec2 x = ((a + b) * 11585 + 8192) >> 14;
  b = ((a - b) * 11585 + 8192) >> 14;
  a = x;
}

void butterfly(inout ivec2 a, inout ivec2 b) {
  ivec2 x = a + b;
  b = a - b;
  a = x;
}

// Two transforms at once.
void idct8(inout ivec2 x0, inout ivec2 x1, inout ivec2 x2, inout ivec2 x3, inout ivec2 x4,
           inout ivec2 x5, inout ivec2 x6, inout ivec2 x7) {
  halves(x0, x4);
  turn(x2, x6, 6270, 15137);
  turn(x1, x7, 3196, 16069);
  turn(x5, x3, 13623, 9102);
  butterfly(x0, x6);
  butterfly(x4, x2);
  butterfly(x1, x5);
  butterfly(x7, x3);
  halves(x3, x5);
  ivec2 e0 = x0, e1 = x4, e2 = x2, e3 = x6, o4 = x1, o5 = x5, o6 = x3, o7 = x7;
  x0 = e0 + o7, x7 = e0 - o7;
  x1 = e1 + o6, x6 = e1 - o6;
  x2 = e2 + o5, x5 = e2 - o5;
  x3 = e3 + o4, x4 = e3 - o4;
}

ivec2 halfwords(uint word) { return ivec2(int(word << 16), int(word)) >> 16; }
uint pair(ivec2 v) { return uint(v.x & 0xffff) | uint(v.y) << 16; }

void add(uint at, int both, ivec2 residual) {
  ivec2 sum = clamp(ivec2(both & 0xff, both >> 8) + ((residual + 16) >> 5), 0, 255);
  pixels[at] = uint16_t(sum.x | sum.y << 8);
}

void main() {
  uint block = gl_GlobalInvocationID.x >> 2, part = gl_LocalInvocationID.x & 3;
  uint from = block * 32 + part;
  ivec2 x0 = halfwords(coeffs[from]), x1 = halfwords(coeffs[from + 4]);
  ivec2 x2 = halfwords(coeffs[from + 8]), x3 = halfwords(coeffs[from + 12]);
  ivec2 x4 = halfwords(coeffs[from + 16]), x5 = halfwords(coeffs[from + 20]);
  ivec2 x6 = halfwords(coeffs[from + 24]), x7 = halfwords(coeffs[from + 28]);
  uint place = places[block] + part;
  // Early, so that they are there when they are needed. It also has Mesa make a program of two
  // threads and 64 registers (364 instructions): one of four would fetch constants anew all the
  // time (526).
  int p0 = int(pixels[place]), p1 = int(pixels[place + stride]);
  int p2 = int(pixels[place + 2 * stride]), p3 = int(pixels[place + 3 * stride]);
  int p4 = int(pixels[place + 4 * stride]), p5 = int(pixels[place + 5 * stride]);
  int p6 = int(pixels[place + 6 * stride]), p7 = int(pixels[place + 7 * stride]);
  idct8(x0, x1, x2, x3, x4, x5, x6, x7);

  uint own = (gl_LocalInvocationID.x >> 2) * 32, to = own + part, first = own + part * 8;
  rows[to] = pair(x0);
  rows[to + 4] = pair(x1);
  rows[to + 8] = pair(x2);
  rows[to + 12] = pair(x3);
  rows[to + 16] = pair(x4);
  rows[to + 20] = pair(x5);
  rows[to + 24] = pair(x6);
  rows[to + 28] = pair(x7);
  barrier();
  // Two rows of one column a word; the columns are put side by side.
  ivec2 a0 = halfwords(rows[first]), a2 = halfwords(rows[first + 1]);
  ivec2 a4 = halfwords(rows[first + 2]), a6 = halfwords(rows[first + 3]);
  ivec2 b0 = halfwords(rows[first + 4]), b2 = halfwords(rows[first + 5]);
  ivec2 b4 = halfwords(rows[first + 6]), b6 = halfwords(rows[first + 7]);
  x0 = ivec2(a0.x, b0.x), x1 = ivec2(a0.y, b0.y), x2 = ivec2(a2.x, b2.x), x3 = ivec2(a2.y, b2.y);
  x4 = ivec2(a4.x, b4.x), x5 = ivec2(a4.y, b4.y), x6 = ivec2(a6.x, b6.x), x7 = ivec2(a6.y, b6.y);
  idct8(x0, x1, x2, x3, x4, x5, x6, x7);

  add(place, p0, x0);
  add(place + stride, p1, x1);
  add(place + 2 * stride, p2, x2);
  add(place + 3 * stride, p3, x3);
  add(place + 4 * stride, p4, x4);
  add(place + 5 * stride, p5, x5);
  add(place + 6 * stride, p6, x6);
  add(place + 7 * stride, p7, x7);
}
