// What linear.cpp takes from each instruction-set file: the dot block for a pair of data types.
#ifndef DENSE_KERNELS_CPU_LINEAR_LEVELS_H
#define DENSE_KERNELS_CPU_LINEAR_LEVELS_H

#include "dense_kernels/dot_block.h"

enum class LinearWeight { kF32, kBf16, kMxfp8 };
enum class LinearX { kF32, kBf16 };

DotBlockFunction linear_dot_avx2(LinearWeight weight, LinearX x);
DotBlockFunction linear_dot_avx512(LinearWeight weight, LinearX x);

// AMX, null for pairs that it does not help. It reads x from a packed copy: 16 tokens (the last
// group may have fewer) take 16 * linear_packed_columns elements.
typedef void (*PackedDotFunction)(const DotBlock* block, const uint16_t* packed);
PackedDotFunction linear_dot_amx(LinearWeight weight, LinearX x);
int64_t linear_packed_columns(int32_t in, LinearX x);
void linear_pack_amx(const void* const* x, int32_t tokens, int32_t in, LinearX type,
                     uint16_t* packed);

// One table for every level: DENSE_KERNELS_LINEAR_DOT(avx2) defines linear_dot_avx2.
#define DENSE_KERNELS_LINEAR_DOT(level)                                                        \
  DotBlockFunction linear_dot_##level(LinearWeight weight, LinearX x) {                        \
    const bool is_f32 = x == LinearX::kF32;                                                    \
    switch (weight) {                                                                          \
      case LinearWeight::kF32:                                                                 \
        return is_f32 ? dot_block_f32_f32_##level : dot_block_f32_bf16_##level;                \
      case LinearWeight::kBf16:                                                                \
        return is_f32 ? dot_block_bf16_f32_##level : dot_block_bf16_bf16_##level;              \
      case LinearWeight::kMxfp8:                                                               \
        return is_f32 ? dot_block_mxfp8_f32_##level : dot_block_mxfp8_bf16_##level;            \
    }                                                                                          \
    return nullptr;                                                                            \
  }

#endif
