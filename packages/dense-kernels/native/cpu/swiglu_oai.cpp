// swiglu_oai on the CPU: the exported entries and their baseline build. Steps: body/swiglu_oai.h.

#include "body/swiglu_oai.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(swiglu_oai_bf16, SwigluOaiParams, swiglu_oai<Bf16>)
DENSE_KERNELS_ENTRY(swiglu_oai_f32, SwigluOaiParams, swiglu_oai<float>)
