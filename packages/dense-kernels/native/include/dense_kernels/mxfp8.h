/* MXFP8 in scalar code: E4M3 elements, one E8M0 scale per 32 consecutive elements of a row.
 *
 * value = 2^(scale - 127) * e4m3(element); scale 255 and elements 0x7f, 0xff are NaN. E4M3 here is
 * the finite-only format of OCP: bias 7, largest 448 (0x7e), smallest 2^-9, no infinity.
 */
#ifndef DENSE_KERNELS_MXFP8_H
#define DENSE_KERNELS_MXFP8_H

#include <stdint.h>

#include "dense_kernels/bf16.h"

/* Elements that share a scale. */
#define MXFP8_BLOCK 32

/* Exact. Byte 0 is 2^-127, which fp32 holds as a subnormal; byte 255 is NaN. */
static inline float e8m0_to_f32(uint8_t scale) {
  if (scale == 0) return f32_from_bits(0x00400000u);
  if (scale == 255) return f32_from_bits(0x7fc00000u);
  return f32_from_bits((uint32_t)scale << 23);
}

/* Exact. */
static inline float e4m3_to_f32(uint8_t code) {
  const uint32_t sign = (uint32_t)(code & 0x80u) << 24;
  const uint32_t magnitude = code & 0x7fu;
  if (magnitude == 0x7fu) return f32_from_bits(sign | 0x7fc00000u);
  if (magnitude >= 8u) return f32_from_bits(sign | ((magnitude << 20) + (120u << 23)));
  const float subnormal = (float)magnitude * 0.001953125f; /* multiples of 2^-9 */
  return f32_from_bits(sign | f32_to_bits(subnormal));
}

/* Round to nearest, ties to even, saturating to +-448; NaN gives 0x7f, -0 gives 0x80. */
static inline uint8_t f32_to_e4m3(float value) {
  const uint32_t bits = f32_to_bits(value);
  const uint8_t sign = (uint8_t)((bits >> 24) & 0x80u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  if (magnitude >= 0x43e00000u) return (uint8_t)(sign | 0x7eu); /* 448 and above */
  if (magnitude < 0x3c800000u) {                                /* below 2^-6: steps of 2^-9 */
    /* Adding 2^14 (whose last place is 2^-9) makes the fp32 adder do the rounding. */
    const float rounded = f32_from_bits(magnitude) + 16384.0f;
    return (uint8_t)(sign | (f32_to_bits(rounded) - 0x46800000u));
  }
  const uint32_t rounded = magnitude + 0x7ffffu + ((magnitude >> 20) & 1u);
  return (uint8_t)(sign | ((rounded - (120u << 23)) >> 20));
}

#ifdef __cplusplus
/* The 256 values of E4M3, indexed by code. */
struct E4m3Table {
  float value[256] = {};
  constexpr E4m3Table() {
    for (int code = 0; code < 128; ++code) {
      float magnitude = code < 8 ? (float)code : (float)(8 + code % 8);
      for (int i = code < 8 ? 1 : code / 8; i < 10; ++i) magnitude *= 0.5f;
      for (int i = 10; i < code / 8; ++i) magnitude *= 2.0f;
      value[code] = code == 127 ? __builtin_nanf("") : magnitude;
      value[code + 128] = code == 127 ? __builtin_nanf("") : -magnitude;
    }
  }
};
static constexpr E4m3Table kE4m3Table{};
#endif

#endif
