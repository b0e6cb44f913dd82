// Rows to MXFP8, the body that every instruction set shares: plain loops of 32 without branches,
// which the compiler turns into vectors. Integer arithmetic and two exact multiplications, so every
// level gives the same bytes. Bound by memory from AVX2 on.
//
// Per block of 32: 1. largest magnitude, as bits  2. scale byte  3. elements.
#ifndef DENSE_KERNELS_CPU_BODY_QUANTIZE_MXFP8_H
#define DENSE_KERNELS_CPU_BODY_QUANTIZE_MXFP8_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/mxfp8.h"
#include "dense_kernels/quantize_mxfp8.h"

namespace {

constexpr int64_t kQuantizeGrain = 16384; /* elements a piece */
constexpr uint32_t kInfinityBits = 0x7f800000u;

inline uint32_t magnitude_bits(const float* x, int i) { return f32_to_bits(x[i]) & 0x7fffffffu; }
inline uint32_t magnitude_bits(const uint16_t* x, int i) {
  return (static_cast<uint32_t>(x[i]) << 16) & 0x7fffffffu;
}
inline float value_of(const float* x, int i) { return x[i]; }
inline float value_of(const uint16_t* x, int i) { return bf16_to_f32(x[i]); }

/* floor(log2 amax) - 8 as an E8M0 byte; fp32 subnormals give 0. */
inline uint32_t floor_scale(uint32_t amax) {
  const uint32_t exponent = amax >> 23;
  return exponent > 8 ? exponent - 8 : 0;
}

/* The smallest power of two that brings amax to 448 or below. */
inline uint32_t rceil_scale(uint32_t amax) {
  const uint32_t v = f32_to_bits(f32_from_bits(amax) * (1.0f / 448.0f));
  const uint32_t exponent = v >> 23;
  const uint32_t mantissa = v & 0x7fffffu;
  if (exponent == 0) return mantissa > 0x400000u ? 1 : 0;
  return exponent + (mantissa != 0 ? 1 : 0);
}

/* The scale byte of a block whose largest finite magnitude has the bits `amax`. */
inline uint32_t scale_byte(uint32_t amax, int32_t mode) {
  if (mode == 0) return rceil_scale(amax);
  if (mode == 1) return floor_scale(amax);
  if (mode == 2) {
    const uint32_t exponent = (amax >> 23) + ((amax & 0x7fffffu) != 0 ? 1 : 0);
    return exponent > 8 ? exponent - 8 : 0;
  }
  return floor_scale(amax + (1u << 19)); /* even: half of the last place of three mantissa bits */
}

/* a where the condition holds, else b; arithmetic, because the compiler makes vectors of it and
 * branches of `?:` on floats. */
inline uint32_t choose(bool condition, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - static_cast<uint32_t>(condition)));
}

/* f32_to_e4m3 without branches, for anything but NaN. */
inline uint32_t e4m3_code(float value) {
  const int32_t bits = static_cast<int32_t>(f32_to_bits(value));
  const int32_t magnitude = bits & 0x7fffffff;
  const float shifted = f32_from_bits(static_cast<uint32_t>(magnitude)) + 16384.0f;
  const int32_t small = static_cast<int32_t>(f32_to_bits(shifted)) - 0x46800000;
  const int32_t normal = (magnitude + 0x7ffff + ((magnitude >> 20) & 1) - (120 << 23)) >> 20;
  const uint32_t code = choose(magnitude < 0x3c800000, small, normal);
  return choose(magnitude >= 0x43e00000, 0x7e, code) | ((bits >> 24) & 0x80);
}

template <typename X>
void quantize_block(const X* x, uint8_t* data, uint8_t* scale, int32_t mode, bool infinity_nan) {
  uint32_t amax = 0;
  for (int i = 0; i < MXFP8_BLOCK; ++i) {
    const uint32_t bits = magnitude_bits(x, i);
    amax = bits > amax ? bits : amax;
  }
  if (amax > kInfinityBits || (amax == kInfinityBits && infinity_nan)) {
    *scale = 255;
    for (int i = 0; i < MXFP8_BLOCK; ++i) data[i] = 0x7f;
    return;
  }
  const uint32_t byte = amax == kInfinityBits ? 254 : scale_byte(amax, mode);
  *scale = static_cast<uint8_t>(byte);
  /* 2^(127 - byte); for 254 that is an fp32 subnormal, written as such */
  const float inverse = f32_from_bits(byte == 254 ? 0x00400000u : (254u - byte) << 23);
  uint8_t codes[MXFP8_BLOCK]; /* not `data`: the compiler has to know that it is not part of x */
  for (int i = 0; i < MXFP8_BLOCK; ++i) {
    codes[i] = static_cast<uint8_t>(e4m3_code(value_of(x, i) * inverse));
  }
  memcpy(data, codes, MXFP8_BLOCK);
}

template <typename X>
void quantize_blocks(void* argument, int64_t begin, int64_t end) {
  const QuantizeMxfp8Params* p = static_cast<const QuantizeMxfp8Params*>(argument);
  const int64_t blocks = p->columns / MXFP8_BLOCK;
  int64_t row = begin / blocks; /* counted on: a division a block would cost as much as the block */
  int64_t block = begin % blocks;
  for (int64_t index = begin; index < end; ++index) {
    const X* x = static_cast<const X*>(p->x) + row * p->x_stride + block * MXFP8_BLOCK;
    quantize_block(x, static_cast<uint8_t*>(p->data) + index * MXFP8_BLOCK,
                   static_cast<uint8_t*>(p->scales) + index, p->scale_mode, p->infinity_nan != 0);
    if (++block == blocks) {
      block = 0;
      ++row;
    }
  }
}

template <typename X>
void quantize_mxfp8(const QuantizeMxfp8Params* p, const CpuContext* context) {
  const int64_t blocks = static_cast<int64_t>(p->rows) * (p->columns / MXFP8_BLOCK);
  if (blocks <= 0) return;
  context->parallel_for(context, blocks, kQuantizeGrain / MXFP8_BLOCK, quantize_blocks<X>,
                        const_cast<QuantizeMxfp8Params*>(p));
}

}  // namespace

#endif
