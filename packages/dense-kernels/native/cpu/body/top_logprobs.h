// Top logprobs, the body that every instruction set shares. Rows in parallel. The best ids sit in
// an insertion list in the output itself; a block of logits that has nothing above its last entry
// is skipped by one vector maximum, so a long row rarely touches the list.
#ifndef DENSE_KERNELS_CPU_BODY_TOP_LOGPROBS_H
#define DENSE_KERNELS_CPU_BODY_TOP_LOGPROBS_H

#include "cuda_runtime/abi.h"
#include "dense_kernels/top_logprobs.h"
#include "log_softmax.h"

namespace {

constexpr int kScanBlock = 64;  // logits skipped together

struct BestList {
  int32_t* ids;
  float* logits;
  int capacity;
  int count;
};

// Ids come in ascending order, so a tie goes behind what is there.
inline void insert(BestList& list, float logit, int id) {
  int place = list.count;
  if (list.count < list.capacity) {
    ++list.count;
  } else {
    place = list.capacity - 1;
    if (!(logit > list.logits[place])) return;
  }
  for (; place > 0 && list.logits[place - 1] < logit; --place) {
    list.logits[place] = list.logits[place - 1];
    list.ids[place] = list.ids[place - 1];
  }
  list.logits[place] = logit;
  list.ids[place] = id;
}

inline void find_best(BestList& list, const float* logits, int vocab) {
  for (int block = 0; block < vocab; block += kScanBlock) {
    const int end = vocab - block < kScanBlock ? vocab : block + kScanBlock;
    if (list.count == list.capacity &&
        !(largest_logit(logits + block, end - block) > list.logits[list.capacity - 1])) {
      continue;
    }
    for (int id = block; id < end; ++id) insert(list, safe_logit(logits[id]), id);
  }
}

inline void top_logprobs_row(const TopLogprobsParams* p, int64_t row) {
  const float* logits = static_cast<const float*>(p->logits) + row * p->logits_stride;
  const int32_t id = static_cast<const int32_t*>(p->ids)[row];
  BestList list{static_cast<int32_t*>(p->best_ids) + row * p->count,
                static_cast<float*>(p->best_logprobs) + row * p->count, p->count, 0};
  float* chosen = static_cast<float*>(p->chosen) + row;
  if (id < 0 || id >= p->vocab) {
    *chosen = 0.0f;
    for (int i = 0; i < p->count; ++i) {
      list.ids[i] = -1;
      list.logits[i] = 0.0f;
    }
    return;
  }
  const float largest = largest_logit(logits, p->vocab);
  const double log_sum =
      largest >= -kLargestFloat ? log_of_sum(logits, p->vocab, largest) : 0.0;
  *chosen = log_probability(logits[id], largest, log_sum);
  if (p->count == 0) return;
  find_best(list, logits, p->vocab);
  for (int i = 0; i < p->count; ++i) {
    list.logits[i] = log_probability(list.logits[i], largest, log_sum);
  }
}

inline void top_logprobs_rows(void* argument, int64_t begin, int64_t end) {
  const TopLogprobsParams* p = static_cast<const TopLogprobsParams*>(argument);
  for (int64_t row = begin; row < end; ++row) top_logprobs_row(p, row);
}

inline void top_logprobs_all(const TopLogprobsParams* p, const CpuContext* context) {
  context->parallel_for(context, p->rows, 1, top_logprobs_rows, const_cast<TopLogprobsParams*>(p));
}

}  // namespace

#endif
