// Masked rows of logits, the body that every instruction set shares. Words of 32 ids in parallel.
#ifndef DENSE_KERNELS_CPU_BODY_MASK_LOGITS_H
#define DENSE_KERNELS_CPU_BODY_MASK_LOGITS_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/mask_logits.h"

namespace {

constexpr int64_t kMaskGrain = 512;  // words; below that a second thread costs more than it saves
constexpr int kIdsOfWord = 32;

void mask_words(void* argument, int64_t begin, int64_t end) {
  const MaskLogitsParams* p = static_cast<const MaskLogitsParams*>(argument);
  const float* logits = static_cast<const float*>(p->logits);
  const int32_t* sources = static_cast<const int32_t*>(p->sources);
  const uint32_t* mask = static_cast<const uint32_t*>(p->mask);
  float* y = static_cast<float*>(p->y);
  const float forbidden = -__builtin_inff();
  for (int64_t i = begin; i < end; ++i) {
    const int64_t row = i / p->words;
    const int64_t first = i % p->words * kIdsOfWord;
    const int64_t rest = p->vocab - first;
    const int ids = rest < kIdsOfWord ? static_cast<int>(rest) : kIdsOfWord;
    const int64_t source = sources[row];
    const bool is_row = source >= 0 && source < p->rows;
    const uint32_t word = is_row ? mask[i] : 0;
    // Without a row nothing is read through this pointer, since no bit is set.
    const float* from = logits + (is_row ? source : 0) * p->logits_stride + first;
    float* to = y + row * p->vocab + first;
    for (int k = 0; k < ids; ++k) to[k] = (word >> k & 1) != 0 ? from[k] : forbidden;
  }
}

void mask_logits(const MaskLogitsParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int64_t words = int64_t{p->count} * p->words;
  context->parallel_for(context, words, kMaskGrain, mask_words, const_cast<MaskLogitsParams*>(p));
}

}  // namespace

#endif
