// Four fp32 lanes in portable C++: the vector type of the baseline files.
//
// vector/avx2.h and vector/avx512.h define the same names for their instruction set. A file
// includes exactly one of the three; all names have internal linkage, so the three never mix.
#ifndef ATTENTION_KERNELS_VECTOR_H
#define ATTENTION_KERNELS_VECTOR_H

#include <stdint.h>

#include "dense_kernels/bf16.h"

namespace attention_kernels {
namespace {

typedef float Vec __attribute__((vector_size(16)));
typedef int32_t IntVec __attribute__((vector_size(16)));

constexpr int kLanes = 4;
constexpr int kRowTile = 2;  // 2 rows x 4 columns of accumulators fit 16 registers

inline Vec splat(float value) { return Vec{value, value, value, value}; }
inline Vec load(const float* from) {
  Vec value;
  memcpy(&value, from, sizeof value);
  return value;
}
inline void store(float* to, Vec value) { memcpy(to, &value, sizeof value); }
inline Vec load_bf16(const uint16_t* from) {
  return Vec{bf16_to_f32(from[0]), bf16_to_f32(from[1]), bf16_to_f32(from[2]),
             bf16_to_f32(from[3])};
}

inline Vec add(Vec a, Vec b) { return a + b; }
inline Vec sub(Vec a, Vec b) { return a - b; }
inline Vec mul(Vec a, Vec b) { return a * b; }
// a * b + c; two roundings here, one on the levels that have the instruction.
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
// The larger; b where either is NaN.
inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }
// `value` where x >= floor or x is NaN, else 0.
inline Vec zero_below(Vec x, Vec floor, Vec value) { return x < floor ? Vec{} : value; }
// value * 2^n for whole n in [-126, 127].
inline Vec scale_by_power(Vec value, Vec n) {
  const IntVec exponent = (__builtin_convertvector(n, IntVec) + 127) << 23;
  return value * reinterpret_cast<Vec>(exponent);
}

inline float sum_of_lanes(Vec a) { return (a[0] + a[2]) + (a[1] + a[3]); }
inline float largest_lane(Vec a) {
  const float low = a[0] > a[1] ? a[0] : a[1];
  const float high = a[2] > a[3] ? a[2] : a[3];
  return low > high ? low : high;
}
// to[i] = the sum of the lanes of argument i.
inline void store_sums(float* to, Vec a, Vec b, Vec c, Vec d) {
  const Vec ab = __builtin_shuffle(a, b, IntVec{0, 4, 1, 5}) +
                 __builtin_shuffle(a, b, IntVec{2, 6, 3, 7});
  const Vec cd = __builtin_shuffle(c, d, IntVec{0, 4, 1, 5}) +
                 __builtin_shuffle(c, d, IntVec{2, 6, 3, 7});
  store(to, __builtin_shuffle(ab, cd, IntVec{0, 1, 4, 5}) +
                __builtin_shuffle(ab, cd, IntVec{2, 3, 6, 7}));
}

}  // namespace
}  // namespace attention_kernels

#endif
