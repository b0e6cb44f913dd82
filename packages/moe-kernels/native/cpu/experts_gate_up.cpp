// Gate and up projections of the routed experts on the CPU. How work is cut: body/expert_job.h.
// Reads an expert's weights once per 64 of its rows; with few tokens it is bound by memory.

#include "moe_kernels/experts_gate_up.h"

#include <math.h>

#include "body/expert_job.h"

namespace {

constexpr int32_t kChannels = 32;  // channels of a unit: 32 gate and 32 up rows

// The gate has no lower clamp. Comparisons are written so that a NaN survives them.
float activate(const ExpertsGateUpParams* p, float gate, float up) {
  const float g = gate > p->limit ? p->limit : gate;
  const float capped = up > p->limit ? p->limit : up;
  const float u = capped < -p->limit ? -p->limit : capped;
  return g * (1.0f / (1.0f + expf(-p->alpha * g))) * (u + p->beta);
}

template <typename T>
void gather_rows(const ExpertJob* job, const RowTile& tile, const void** x) {
  const ExpertsGateUpParams* p = (const ExpertsGateUpParams*)job->params;
  const int32_t* rows = (const int32_t*)p->rows + tile.first;
  for (int32_t i = 0; i < tile.count; ++i) {
    const int32_t slot = rows[i] >= 0 && rows[i] < p->slots ? rows[i] : 0;
    x[i] = (const T*)p->x + (int64_t)(slot / p->k) * p->hidden;
  }
}

template <typename T>
void project_tile(const ExpertJob* job, const RowTile& tile, int32_t channel) {
  const ExpertsGateUpParams* p = (const ExpertsGateUpParams*)job->params;
  const int32_t left = p->intermediate - channel;
  const int32_t channels = left < kChannels ? left : kChannels;
  // 1. gather the tokens
  const void* x[kRowTile];
  gather_rows<T>(job, tile, x);
  // 2. gate and up
  float gate[kChannels][kRowTile];
  float up[kChannels][kRowTile];
  multiply(job, tile, x, channel, channels, gate[0]);
  multiply(job, tile, x, p->intermediate + channel, channels, up[0]);
  // 3. activation, one rounding
  for (int32_t i = 0; i < tile.count; ++i) {
    T* y = (T*)p->y + (int64_t)(tile.first + i) * p->intermediate + channel;
    for (int32_t c = 0; c < channels; ++c) store_rounded(y + c, activate(p, gate[c][i], up[c][i]));
  }
}

template <typename T>
void gate_up(const ExpertsGateUpParams* p, const CpuContext* context, ExpertWeight kind) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  ExpertJob job;
  job.params = p;
  job.offsets = (const int32_t*)p->offsets;
  job.matrix = {p->w13, p->scales, 2 * (int64_t)p->intermediate, p->hidden, kind};
  prepare<T, gather_rows<T>>(&job, context, p->experts, p->slots, p->packed);
  const int64_t blocks = (p->intermediate + kChannels - 1) / kChannels;
  context->parallel_for(context, blocks * job.active.count, 1,
                        run_units<project_tile<T>, kChannels>, &job);
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
