// rms_norm on the CPU, built for AVX2. Steps: body/rms_norm.h.

#include "body/rms_norm.h"

void rms_norm_bf16_avx2(const RmsNormParams* p, const CpuContext* context) { rms_norm<Bf16>(p, context); }
void rms_norm_f32_avx2(const RmsNormParams* p, const CpuContext* context) { rms_norm<float>(p, context); }
