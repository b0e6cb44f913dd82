// Where the rows of an expert's weight matrix lie, for one weight format.
#ifndef MOE_KERNELS_CPU_BODY_EXPERT_WEIGHTS_H
#define MOE_KERNELS_CPU_BODY_EXPERT_WEIGHTS_H

#include "expert_dots.h"

namespace {

// Weights [experts, rows, in] with scales [experts, rows, in / 32].
struct ExpertMatrix {
  const void* weights;
  const void* scales;
  int64_t rows;
  int64_t in;
  ExpertWeight kind;
};

// Points `block` at `count` rows of `expert` from `first` on.
inline void point_at_rows(const ExpertMatrix& m, int64_t expert, int64_t first, int32_t count,
                          DotBlock* block) {
  const int64_t element_bytes = m.kind == kWeightMxfp8 ? 1 : m.kind == kWeightBf16 ? 2 : 4;
  const int64_t row = expert * m.rows + first;
  block->weight_stride = m.in * element_bytes;
  block->scale_stride = m.in / MXFP8_BLOCK;
  block->weights = (const char*)m.weights + row * block->weight_stride;
  block->scales =
      m.kind == kWeightMxfp8 ? (const uint8_t*)m.scales + row * block->scale_stride : nullptr;
  block->rows = count;
  block->in = (int32_t)m.in;
}

inline void store_rounded(float* to, float value) { *to = value; }
inline void store_rounded(uint16_t* to, float value) { *to = f32_to_bf16(value); }

template <typename T>
constexpr ExpertActivation activation_of() {
  return sizeof(T) == 2 ? kActivationBf16 : kActivationF32;
}

}  // namespace

#endif
