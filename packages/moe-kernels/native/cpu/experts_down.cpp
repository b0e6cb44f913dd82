// Down projection of the routed experts on the CPU. How work is cut: body/expert_job.h.
// Rows stay in permuted order; the sum over a token's experts is finalize's.

#include "moe_kernels/experts_down.h"

#include "body/expert_job.h"

namespace {

constexpr int32_t kChannels = 64;  // weight rows of a unit

template <typename T>
void point_at_rows(const ExpertJob* job, const RowTile& tile, const void** y) {
  const ExpertsDownParams* p = (const ExpertsDownParams*)job->params;
  for (int32_t i = 0; i < tile.count; ++i) {
    y[i] = (const T*)p->y + (int64_t)(tile.first + i) * p->intermediate;
  }
}

template <typename T>
void project_tile(const ExpertJob* job, const RowTile& tile, int32_t channel) {
  const ExpertsDownParams* p = (const ExpertsDownParams*)job->params;
  const int32_t left = p->hidden - channel;
  const int32_t channels = left < kChannels ? left : kChannels;
  const void* y[kRowTile];
  point_at_rows<T>(job, tile, y);
  float sums[kChannels][kRowTile];
  multiply(job, tile, y, channel, channels, sums[0]);
  for (int32_t i = 0; i < tile.count; ++i) {
    T* h2 = (T*)p->h2 + (int64_t)(tile.first + i) * p->hidden + channel;
    for (int32_t c = 0; c < channels; ++c) store_rounded(h2 + c, sums[c][i]);
  }
}

template <typename T>
void down(const ExpertsDownParams* p, const CpuContext* context, ExpertWeight kind) {
  context->grid_dependency_sync(context);
  context->trigger(context);
  ExpertJob job;
  job.params = p;
  job.offsets = (const int32_t*)p->offsets;
  job.matrix = {p->w2, p->scales, p->hidden, p->intermediate, kind};
  prepare<T, point_at_rows<T>>(&job, context, p->experts, p->slots, p->packed);
  const int64_t blocks = (p->hidden + kChannels - 1) / kChannels;
  context->parallel_for(context, blocks * job.active.count, 1,
                        run_units<project_tile<T>, kChannels>, &job);
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
