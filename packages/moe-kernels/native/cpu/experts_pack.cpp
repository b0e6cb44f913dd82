// Activations in the order that products of warpgroups want, on the CPU: for tests and tools, as
// the CPU's own experts read rows as they are.

#include "moe_kernels/experts_pack.h"

#include <stdint.h>
#include <string.h>

#include "cuda_runtime/abi.h"

namespace {

constexpr int32_t kLanes = 4;
constexpr int64_t kUnitChunks = 4096;  // of 16 bytes

// One unit of chunks; a lane has `words` words of a group.
template <int32_t words>
void pack_unit(const ExpertsPackParams* p, int64_t unit) {
  const int64_t first = unit * kUnitChunks;
  const int64_t left = p->chunks - first;
  const int64_t end = first + (left < kUnitChunks ? left : kUnitChunks);
  for (int64_t i = first; i < end; ++i) {
    const uint8_t* group = (const uint8_t*)p->x + i / words * words * sizeof(uint32_t[kLanes]);
    uint32_t chunk[kLanes];
    for (int32_t lane = 0; lane < kLanes; ++lane) {
      memcpy(&chunk[lane], group + (lane * words + i % words) * sizeof(uint32_t), sizeof(uint32_t));
    }
    memcpy((uint8_t*)p->packed + i * sizeof(chunk), chunk, sizeof(chunk));
  }
}

template <int32_t words>
void pack_units(void* params, int64_t first, int64_t end) {
  for (int64_t unit = first; unit < end; ++unit) {
    pack_unit<words>((const ExpertsPackParams*)params, unit);
  }
}

void pack(const ExpertsPackParams* p, const CpuContext* context, CpuLoopBody body) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  const int64_t units = (p->chunks + kUnitChunks - 1) / kUnitChunks;
  context->parallel_for(context, units, 1, body, (void*)p);
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void experts_pack_mxfp8(const ExpertsPackParams* p, const CpuContext* context) {
  pack(p, context, pack_units<8>);
}

extern "C" void experts_pack_bf16(const ExpertsPackParams* p, const CpuContext* context) {
  pack(p, context, pack_units<4>);
}
