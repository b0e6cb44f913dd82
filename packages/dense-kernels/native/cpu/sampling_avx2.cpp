// sampling on the CPU, built for AVX2. Steps: body/sampling.h.

#include "body/sampling.h"

void sampling_avx2(const SamplingParams* p, const CpuContext* context) { sample(p, context); }
