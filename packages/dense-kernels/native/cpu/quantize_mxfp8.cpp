// quantize_mxfp8 on the CPU: exported entries, baseline build. Steps:
// body/quantize_mxfp8.h.

#include "body/quantize_mxfp8.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(quantize_mxfp8_f32, QuantizeMxfp8Params, quantize_mxfp8<float>)
DENSE_KERNELS_ENTRY(quantize_mxfp8_bf16, QuantizeMxfp8Params, quantize_mxfp8<uint16_t>)
