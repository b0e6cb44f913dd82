// quantize_mxfp8 on the CPU, built for AVX2. Steps: body/quantize_mxfp8.h.

#include "body/quantize_mxfp8.h"

void quantize_mxfp8_f32_avx2(const QuantizeMxfp8Params* p, const CpuContext* context) {
  quantize_mxfp8<float>(p, context);
}
void quantize_mxfp8_bf16_avx2(const QuantizeMxfp8Params* p, const CpuContext* context) {
  quantize_mxfp8<uint16_t>(p, context);
}
