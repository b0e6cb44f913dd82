// top_logprobs on the CPU, built for AVX2. Steps: body/top_logprobs.h.

#include "body/top_logprobs.h"

void top_logprobs_avx2(const TopLogprobsParams* p, const CpuContext* context) { top_logprobs_all(p, context); }
