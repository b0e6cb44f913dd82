// The finalize loop, compiled once per instruction set with internal linkage.
//
// out[t] = round((sum over slots j of weights[t, j] * expert_out[row(t, j)]) * scale), fp32 inside,
// plus the addend, if any, rounded again; in ascending j with multiply and add rounded apart (the
// build sets -ffp-contract=off): every level gives the same bits.
#ifndef MOE_KERNELS_CPU_BODY_FINALIZE_ROWS_H
#define MOE_KERNELS_CPU_BODY_FINALIZE_ROWS_H

#include <stdint.h>

#include "dense_kernels/bf16.h"
#include "moe_kernels/finalize.h"

namespace {

constexpr int32_t kColumns = 512;  // a strip of fp32 sums that stays in the first-level cache

void add_row(float* sums, const float* row, float weight, int32_t count) {
  for (int32_t c = 0; c < count; ++c) sums[c] += weight * row[c];
}

void add_row(float* sums, const uint16_t* row, float weight, int32_t count) {
  for (int32_t c = 0; c < count; ++c) sums[c] += weight * bf16_to_f32(row[c]);
}

void store_row(float* out, const float* sums, float scale, const float* addend, int32_t count) {
  for (int32_t c = 0; c < count; ++c) out[c] = sums[c] * scale;
  if (addend == nullptr) return;
  for (int32_t c = 0; c < count; ++c) out[c] += addend[c];
}

void store_row(uint16_t* out, const float* sums, float scale, const uint16_t* addend,
               int32_t count) {
  for (int32_t c = 0; c < count; ++c) out[c] = f32_to_bf16(sums[c] * scale);
  if (addend == nullptr) return;
  for (int32_t c = 0; c < count; ++c) {
    out[c] = f32_to_bf16(bf16_to_f32(out[c]) + bf16_to_f32(addend[c]));
  }
}

template <typename T>
void finalize_token(const FinalizeParams* p, int64_t token) {
  const int64_t rows = (int64_t)p->tokens * p->k;  // of expert_out
  const int32_t* slots = (const int32_t*)p->slots + token * p->k;
  const float* weights = (const float*)p->weights + token * p->k;
  T* out = (T*)p->out + token * p->hidden;
  const T* addend = p->addend == nullptr ? nullptr : (const T*)p->addend + token * p->hidden;
  for (int32_t first = 0; first < p->hidden; first += kColumns) {
    const int32_t count = p->hidden - first < kColumns ? p->hidden - first : kColumns;
    float sums[kColumns] = {};
    for (int32_t j = 0; j < p->k; ++j) {
      if (slots[j] < 0 || slots[j] >= rows) continue;
      const T* row = (const T*)p->expert_out + (int64_t)slots[j] * p->hidden + first;
      add_row(sums, row, weights[j], count);
    }
    store_row(out + first, sums, p->scale, addend == nullptr ? nullptr : addend + first, count);
  }
}

template <typename T>
void finalize_tokens(void* argument, int64_t begin, int64_t end) {
  const FinalizeParams* p = (const FinalizeParams*)argument;
  for (int64_t token = begin; token < end; ++token) finalize_token<T>(p, token);
}

}  // namespace

#endif
