// dequantize_mxfp8 on the CPU: exported entries, baseline build. Steps:
// body/dequantize_mxfp8.h.

#include "body/dequantize_mxfp8.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(dequantize_mxfp8_f32, DequantizeMxfp8Params, dequantize_mxfp8<float>)
DENSE_KERNELS_ENTRY(dequantize_mxfp8_bf16, DequantizeMxfp8Params, dequantize_mxfp8<uint16_t>)
