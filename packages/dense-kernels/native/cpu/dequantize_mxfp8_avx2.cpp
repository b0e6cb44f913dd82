// dequantize_mxfp8 on the CPU, built for AVX2. Steps: body/dequantize_mxfp8.h.

#include "body/dequantize_mxfp8.h"

void dequantize_mxfp8_f32_avx2(const DequantizeMxfp8Params* p, const CpuContext* context) {
  dequantize_mxfp8<float>(p, context);
}
void dequantize_mxfp8_bf16_avx2(const DequantizeMxfp8Params* p, const CpuContext* context) {
  dequantize_mxfp8<uint16_t>(p, context);
}
