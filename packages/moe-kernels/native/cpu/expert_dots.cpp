// Dot products of the experts: dispatch by instruction set, baseline functions, active experts.

#include "body/expert_dots.h"

namespace {

const DotBlockFunction kBaseline[3][2] = {
    {dot_block_mxfp8_bf16_baseline, dot_block_mxfp8_f32_baseline},
    {dot_block_bf16_bf16_baseline, dot_block_bf16_f32_baseline},
    {dot_block_f32_bf16_baseline, dot_block_f32_f32_baseline},
};

}  // namespace

DotBlockFunction expert_dots(uint32_t level, ExpertWeight weight, ExpertActivation activation) {
#ifdef CRT_X86
  if (level >= kCpuAvx512) return kExpertDotsAvx512[weight][activation];
  if (level >= kCpuAvx2) return kExpertDotsAvx2[weight][activation];
#else
  (void)level;
#endif
  return kBaseline[weight][activation];
}

void list_active_experts(const int32_t* offsets, int32_t experts, ActiveExperts* active) {
  active->count = 0;
  for (int32_t e = 0; e < experts; ++e) {
    if (offsets[e + 1] > offsets[e]) active->expert[active->count++] = e;
  }
}
