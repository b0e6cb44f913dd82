/* Scalar conversions between fp32 and bfloat16 (the upper half of an fp32). */
#ifndef DENSE_KERNELS_BF16_H
#define DENSE_KERNELS_BF16_H

#include <stdint.h>
#include <string.h>

/* The fp32 with the given bits. */
static inline float f32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The bits of an fp32. */
static inline uint32_t f32_to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Exact. */
static inline float bf16_to_f32(uint16_t bits) { return f32_from_bits((uint32_t)bits << 16); }

/* Round to nearest, ties to even; overflow gives infinity; a NaN stays a (quiet) NaN. */
static inline uint16_t f32_to_bf16(float value) {
  const uint32_t bits = f32_to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x0040u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#endif
