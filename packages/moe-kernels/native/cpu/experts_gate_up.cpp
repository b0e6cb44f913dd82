// Gate and up projections of the routed experts on the CPU.
//
// Work is cut into (channel block, active expert) units, block by block, so that every contiguous
// share of the range holds all active experts: threads stay even however tokens are routed.
// A unit reads its weight rows once per 64 tokens; with few tokens it is bound by memory.
// A result depends on its token and its expert alone (see dot_block.h), not on the batch.

#include "moe_kernels/experts_gate_up.h"

#include <math.h>

#include "body/expert_units.h"
#include "body/expert_weights.h"

namespace {

constexpr int32_t kChannels = 32;  // channels of a unit: 32 gate and 32 up rows

struct Work {
  const ExpertsGateUpParams* p;
  const ActiveExperts* active;
  ExpertMatrix w13;
  DotBlockFunction dots;
};

// Sums of one unit and row tile, channel by channel.
struct Sums {
  float gate[kChannels][kRowTile];
  float up[kChannels][kRowTile];
};

// The gate has no lower clamp. Comparisons are written so that a NaN survives them.
float activate(const ExpertsGateUpParams* p, float gate, float up) {
  const float g = gate > p->limit ? p->limit : gate;
  const float capped = up > p->limit ? p->limit : up;
  const float u = capped < -p->limit ? -p->limit : capped;
  return g * (1.0f / (1.0f + expf(-p->alpha * g))) * (u + p->beta);
}

template <typename T>
void project_tile(const Work* w, int32_t expert, int32_t channel, int32_t first, int32_t count) {
  const ExpertsGateUpParams* p = w->p;
  const int32_t* rows = (const int32_t*)p->rows + first;
  const int32_t left = p->intermediate - channel;
  const int32_t channels = left < kChannels ? left : kChannels;
  // 1. gather the tokens
  const void* x[kRowTile];
  for (int32_t i = 0; i < count; ++i) {
    x[i] = (const T*)p->x + (int64_t)(rows[i] / p->k) * p->hidden;
  }
  // 2. gate and up
  Sums sums;
  DotBlock block = {};
  block.x = x;
  block.tokens = count;
  block.y_row = kRowTile;
  block.y_token = 1;
  point_at_rows(w->w13, expert, channel, channels, &block);
  block.y = sums.gate[0];
  w->dots(&block);
  point_at_rows(w->w13, expert, p->intermediate + channel, channels, &block);
  block.y = sums.up[0];
  w->dots(&block);
  // 3. activation, one rounding
  for (int32_t i = 0; i < count; ++i) {
    T* y = (T*)p->y + (int64_t)(first + i) * p->intermediate + channel;
    for (int32_t c = 0; c < channels; ++c) {
      store_rounded(y + c, activate(p, sums.gate[c][i], sums.up[c][i]));
    }
  }
}

template <typename T>
void gate_up(const ExpertsGateUpParams* p, const CpuContext* context, ExpertWeight kind) {
  ActiveExperts active;
  list_active_experts((const int32_t*)p->offsets, p->experts, &active);
  Work work = {p, &active, {p->w13, p->scales, 2 * (int64_t)p->intermediate, p->hidden, kind},
               expert_dots(context->level, kind, activation_of<T>())};
  const int64_t blocks = (p->intermediate + kChannels - 1) / kChannels;
  context->parallel_for(context, blocks * active.count, 1,
                        run_units<Work, project_tile<T>, kChannels>, &work);
}

}  // namespace

// ---- entries --------------------------------------------------------------------------------
extern "C" void experts_gate_up_mxfp8_bf16(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<uint16_t>(p, context, kWeightMxfp8);
}

extern "C" void experts_gate_up_mxfp8_f32(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<float>(p, context, kWeightMxfp8);
}

extern "C" void experts_gate_up_bf16_bf16(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<uint16_t>(p, context, kWeightBf16);
}

extern "C" void experts_gate_up_bf16_f32(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<float>(p, context, kWeightBf16);
}

extern "C" void experts_gate_up_f32_bf16(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<uint16_t>(p, context, kWeightF32);
}

extern "C" void experts_gate_up_f32_f32(const ExpertsGateUpParams* p, const CpuContext* context) {
  gate_up<float>(p, context, kWeightF32);
}
