// Groups (token, slot) pairs by expert on the CPU: a stable counting sort.
//
// Inside an expert the order is ascending token * k + slot, so equal input gives equal layout, and
// neighbours in memory stay neighbours. Runs on one thread: 32 k pairs take about 0.2 ms, less than
// the experts' weights take to arrive from memory.

#include "moe_kernels/permute.h"

#include "cuda_runtime/abi.h"

namespace {

constexpr int kMaxExperts = 4097;  // as many as top-k can name: 4096 routed and one shared

// The local expert of a pair, or -1. Ids of other ranks, -1 and garbage alike are skipped: the
// difference is computed in 64 bits so that no id can wrap into the local range.
int64_t local_expert(const PermuteParams* p, int64_t pair) {
  const int64_t expert = (int64_t)((const int32_t*)p->ids)[pair] - p->expert_offset;
  return expert >= 0 && expert < p->experts ? expert : -1;
}

// Cuts each expert's rows into tiles of at most tile_rows, experts in ascending order.
void list_tiles(const PermuteParams* p, const int32_t* offsets) {
  int32_t* tiles = (int32_t*)p->tiles;
  int32_t count = 0;
  for (int32_t e = 0; e < p->experts; ++e) {
    for (int32_t row = offsets[e]; row < offsets[e + 1] && count < p->max_tiles; ++count) {
      const int32_t left = offsets[e + 1] - row;
      const int32_t rows = left < p->tile_rows ? left : p->tile_rows;
      tiles[count * 3] = e;
      tiles[count * 3 + 1] = row;
      tiles[count * 3 + 2] = rows;
      row += rows;
    }
  }
  *(int32_t*)p->tile_count = count;
  for (int32_t t = count; t < p->max_tiles; ++t) {
    tiles[t * 3] = -1;
    tiles[t * 3 + 1] = 0;
    tiles[t * 3 + 2] = 0;
  }
}

void sort_pairs(void* argument, int64_t, int64_t) {
  const PermuteParams* p = (const PermuteParams*)argument;
  const int64_t pairs = (int64_t)p->tokens * p->k;
  int32_t* offsets = (int32_t*)p->offsets;
  int32_t* rows = (int32_t*)p->rows;
  int32_t* slots = (int32_t*)p->slots;
  // 1. rows of each expert
  int32_t next[kMaxExperts] = {};
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t expert = local_expert(p, pair);
    if (expert >= 0) ++next[expert];
  }
  // 2. where each expert starts
  int32_t total = 0;
  for (int32_t e = 0; e < p->experts; ++e) {
    const int32_t count = next[e];
    offsets[e] = total;
    next[e] = total;
    total += count;
  }
  offsets[p->experts] = total;
  // 3. both directions of the map
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t expert = local_expert(p, pair);
    slots[pair] = expert < 0 ? -1 : next[expert]++;
    if (expert >= 0) rows[slots[pair]] = (int32_t)pair;
  }
  for (int64_t row = total; row < pairs; ++row) rows[row] = -1;
  // 4. work list of a tiled kernel
  if (p->tiles != nullptr) list_tiles(p, offsets);
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void permute(const PermuteParams* p, const CpuContext* context) {
  context->parallel_for(context, 1, 1, sort_pairs, (void*)p);
}
