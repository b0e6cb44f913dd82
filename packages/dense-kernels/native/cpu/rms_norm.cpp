// rms_norm on the CPU: the exported entries and their baseline build. Steps: body/rms_norm.h.

#include "body/rms_norm.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(rms_norm_bf16, RmsNormParams, rms_norm<Bf16>)
DENSE_KERNELS_ENTRY(rms_norm_f32, RmsNormParams, rms_norm<float>)
