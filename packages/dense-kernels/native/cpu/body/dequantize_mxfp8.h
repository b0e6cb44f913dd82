// MXFP8 rows back to f32 or bf16, the body that every instruction set shares. One multiplication an
// element, exact, and for bf16 a rounding that changes nothing for scale bytes 3 to 246.
#ifndef DENSE_KERNELS_CPU_BODY_DEQUANTIZE_MXFP8_H
#define DENSE_KERNELS_CPU_BODY_DEQUANTIZE_MXFP8_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/dequantize_mxfp8.h"
#include "dense_kernels/mxfp8.h"

namespace {

constexpr int64_t kDequantizeGrain = 16384; /* elements a piece */

/* a where the condition holds, else b; arithmetic, because the compiler makes vectors of it and
 * branches of `?:` on floats. */
inline uint32_t pick(bool condition, uint32_t a, uint32_t b) {
  return b ^ ((a ^ b) & (0u - static_cast<uint32_t>(condition)));
}

/* e4m3_to_f32 without branches or table, which would stop the compiler from using vectors. */
inline float e4m3_value(uint8_t code) {
  const int32_t magnitude = code & 0x7f;
  const uint32_t normal = static_cast<uint32_t>((magnitude << 20) + (120 << 23));
  const uint32_t small = f32_to_bits(static_cast<float>(magnitude) * 0x1p-9f);
  const uint32_t finite = pick(magnitude < 8, small, normal);
  const uint32_t sign = static_cast<uint32_t>(code & 0x80) << 24;
  return f32_from_bits(pick(magnitude == 0x7f, 0x7fc00000u, finite) | sign);
}

inline uint16_t round_to_bf16(float value) {
  const uint32_t bits = f32_to_bits(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const bool is_nan = static_cast<int32_t>(bits & 0x7fffffffu) > 0x7f800000;
  return static_cast<uint16_t>(pick(is_nan, bits | 0x400000u, rounded) >> 16);
}

inline void store_value(float* to, float value) { *to = value; }
inline void store_value(uint16_t* to, float value) { *to = round_to_bf16(value); }

template <typename Y>
void dequantize_blocks(void* argument, int64_t begin, int64_t end) {
  const DequantizeMxfp8Params* p = static_cast<const DequantizeMxfp8Params*>(argument);
  for (int64_t block = begin; block < end; ++block) {
    const float scale = e8m0_to_f32(static_cast<const uint8_t*>(p->scales)[block]);
    const uint8_t* data = static_cast<const uint8_t*>(p->data) + block * MXFP8_BLOCK;
    Y* y = static_cast<Y*>(p->y) + block * MXFP8_BLOCK;
    Y values[MXFP8_BLOCK]; /* not `y`: the compiler has to know that it is not part of `data` */
    for (int i = 0; i < MXFP8_BLOCK; ++i) store_value(values + i, e4m3_value(data[i]) * scale);
    memcpy(y, values, sizeof values);
  }
}

template <typename Y>
void dequantize_mxfp8(const DequantizeMxfp8Params* p, const CpuContext* context) {
  const int64_t blocks = static_cast<int64_t>(p->rows) * (p->columns / MXFP8_BLOCK);
  if (blocks <= 0) return;
  context->parallel_for(context, blocks, kDequantizeGrain / MXFP8_BLOCK, dequantize_blocks<Y>,
                        const_cast<DequantizeMxfp8Params*>(p));
}

}  // namespace

#endif
