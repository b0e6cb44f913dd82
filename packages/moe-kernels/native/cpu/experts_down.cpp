// Down projection of the routed experts on the CPU.
//
// Cut and read like the gate and up projections (experts_gate_up.cpp); rows stay in permuted order.

#include "moe_kernels/experts_down.h"

#include "body/expert_units.h"
#include "body/expert_weights.h"

namespace {

constexpr int32_t kChannels = 64;  // weight rows of a unit

struct Work {
  const ExpertsDownParams* p;
  const ActiveExperts* active;
  ExpertMatrix w2;
  DotBlockFunction dots;
};

template <typename T>
void project_tile(const Work* w, int32_t expert, int32_t channel, int32_t first, int32_t count) {
  const ExpertsDownParams* p = w->p;
  const int32_t left = p->hidden - channel;
  const int32_t channels = left < kChannels ? left : kChannels;
  const void* y[kRowTile];
  for (int32_t i = 0; i < count; ++i) {
    y[i] = (const T*)p->y + (int64_t)(first + i) * p->intermediate;
  }
  float sums[kChannels][kRowTile];
  DotBlock block = {};
  block.x = y;
  block.tokens = count;
  block.y = sums[0];
  block.y_row = kRowTile;
  block.y_token = 1;
  point_at_rows(w->w2, expert, channel, channels, &block);
  w->dots(&block);
  for (int32_t i = 0; i < count; ++i) {
    T* h2 = (T*)p->h2 + (int64_t)(first + i) * p->hidden + channel;
    for (int32_t c = 0; c < channels; ++c) store_rounded(h2 + c, sums[c][i]);
  }
}

template <typename T>
void down(const ExpertsDownParams* p, const CpuContext* context, ExpertWeight kind) {
  ActiveExperts active;
  list_active_experts((const int32_t*)p->offsets, p->experts, &active);
  Work work = {p, &active, {p->w2, p->scales, p->hidden, p->intermediate, kind},
               expert_dots(context->level, kind, activation_of<T>())};
  const int64_t blocks = (p->hidden + kChannels - 1) / kChannels;
  context->parallel_for(context, blocks * active.count, 1,
                        run_units<Work, project_tile<T>, kChannels>, &work);
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void experts_down_mxfp8_bf16(const ExpertsDownParams* p, const CpuContext* context) {
  down<uint16_t>(p, context, kWeightMxfp8);
}

extern "C" void experts_down_mxfp8_f32(const ExpertsDownParams* p, const CpuContext* context) {
  down<float>(p, context, kWeightMxfp8);
}

extern "C" void experts_down_bf16_bf16(const ExpertsDownParams* p, const CpuContext* context) {
  down<uint16_t>(p, context, kWeightBf16);
}

extern "C" void experts_down_bf16_f32(const ExpertsDownParams* p, const CpuContext* context) {
  down<float>(p, context, kWeightBf16);
}

extern "C" void experts_down_f32_bf16(const ExpertsDownParams* p, const CpuContext* context) {
  down<uint16_t>(p, context, kWeightF32);
}

extern "C" void experts_down_f32_f32(const ExpertsDownParams* p, const CpuContext* context) {
  down<float>(p, context, kWeightF32);
}
