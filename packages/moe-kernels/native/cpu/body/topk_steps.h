// The steps of top-k that run over all experts of a token, done once per instruction set.
#ifndef MOE_KERNELS_CPU_BODY_TOPK_STEPS_H
#define MOE_KERNELS_CPU_BODY_TOPK_STEPS_H

#include <stdint.h>

// Rows of the working set are padded to a multiple of this many floats, logits with -inf.
constexpr int kTopkLanes = 16;

// `count` numbers each; logits and scores reach to the next multiple of kTopkLanes.
struct TopkSteps {
  void (*sigmoid)(const float* logits, float* scores, int count);
  // NaN logits stay NaN and do not disturb the others. A +inf logit takes all of the weight, shared
  // evenly among its equals. A row without anything above -inf scores 0.
  void (*softmax)(const float* logits, float* scores, int count);
  // Ids of the k largest ranks (see topk_rank.h) as complements in the low halves, best first;
  // `best` is all 0 before, and its high halves mean nothing after.
  void (*choose)(const float* keys, int count, int k, bool nan_first, uint64_t* best);
};

void topk_sigmoid_avx2(const float* logits, float* scores, int count);
void topk_softmax_avx2(const float* logits, float* scores, int count);
void topk_choose_avx2(const float* keys, int count, int k, bool nan_first, uint64_t* best);

#endif
