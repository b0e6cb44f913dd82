// Router top-k and permute on the CPU, one behind the other: a launch is cheap here. Steps:
// topk.cpp, permute.cpp.

#include "moe_kernels/topk_permute.h"

#include "cuda_runtime/abi.h"
#include "moe_kernels/permute.h"
#include "moe_kernels/topk.h"

extern "C" void topk_f32(const TopkParams* p, const CpuContext* context);
extern "C" void permute(const PermuteParams* p, const CpuContext* context);

namespace {

TopkParams topk_of(const TopkPermuteParams* p) {
  TopkParams topk = {};
  topk.logits = p->logits;
  topk.bias = p->bias;
  topk.positions = p->positions;
  topk.ids = p->ids;
  topk.weights = p->weights;
  topk.status = p->status;
  topk.tokens = p->tokens;
  topk.experts = p->experts;
  topk.k = p->k;
  topk.shared = p->shared;
  topk.score = p->score;
  topk.by_logit = p->by_logit;
  topk.groups = 1;
  topk.kept_groups = 1;
  topk.normalize = p->normalize;
  topk.nan_first = p->nan_first;
  topk.scale = p->scale;
  topk.shared_weight = p->shared_weight;
  return topk;
}

PermuteParams permute_of(const TopkPermuteParams* p) {
  PermuteParams permute = {};
  permute.ids = p->ids;
  permute.offsets = p->offsets;
  permute.rows = p->rows;
  permute.slots = p->slots;
  permute.tokens = p->tokens;
  permute.k = p->k + p->shared;
  permute.expert_offset = p->expert_offset;
  permute.experts = p->local_experts;
  return permute;
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
// Each waits for the predecessors; the second finds that it has.
extern "C" void topk_permute_f32(const TopkPermuteParams* p, const CpuContext* context) {
  const TopkParams topk = topk_of(p);
  topk_f32(&topk, context);
  const PermuteParams pairs = permute_of(p);
  permute(&pairs, context);
}
