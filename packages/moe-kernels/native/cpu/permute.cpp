// Groups (token, slot) pairs by expert on the CPU: the entry and the baseline level. Steps:
// body/permute.h.

#include "body/permute.h"

#include "body/permute_levels.h"
#include "cuda_runtime/abi.h"

// ---- entries --------------------------------------------------------------------------------
extern "C" void permute(const PermuteParams* p, const CpuContext* context) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  CpuLoopBody body = sort_pairs;
#ifdef CRT_X86
  if (context->level >= kCpuAvx2) body = permute_sort_pairs_avx2;
#endif
  context->parallel_for(context, 1, 1, body, (void*)p);
}
