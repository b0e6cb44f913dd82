// Norm and rotation of a token's heads, driven by qk_norm_rope.cpp, done once per instruction set.
#ifndef ATTENTION_KERNELS_QK_HEADS_H
#define ATTENTION_KERNELS_QK_HEADS_H

#include <stdint.h>

#include "vector/tile_limits.h"

namespace attention_kernels {

// A token's rotation: `pairs` cosines and sines.
struct Rotation {
  float cosines[kMaxDims / 2];
  float sines[kMaxDims / 2];
  int32_t pairs;
};

// The heads of one token in one of the four tensors, dense on both sides.
struct TokenHeads {
  const void* in;      // [heads, dims]
  void* out;           // [heads, dims]
  const void* weight;  // [dims]; null: not normed
  int32_t heads, dims;
  bool weights_f32;
  float eps;
};

typedef void (*HeadsFunction)(const TokenHeads& heads, const Rotation& rotation);

void norm_and_rotate_bf16_avx2(const TokenHeads& heads, const Rotation& rotation);
void norm_and_rotate_f32_avx2(const TokenHeads& heads, const Rotation& rotation);

}  // namespace attention_kernels

#endif
