// swiglu_oai on the CPU, built for AVX2. Steps: body/swiglu_oai.h.

#include "body/swiglu_oai.h"

void swiglu_oai_bf16_avx2(const SwigluOaiParams* p, const CpuContext* context) { swiglu_oai<Bf16>(p, context); }
void swiglu_oai_f32_avx2(const SwigluOaiParams* p, const CpuContext* context) { swiglu_oai<float>(p, context); }
