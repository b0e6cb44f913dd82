// add on the CPU: the exported entries and their baseline build. Steps: body/add.h.

#include "body/add.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(add_bf16, AddParams, add<Bf16>)
DENSE_KERNELS_ENTRY(add_f32, AddParams, add<float>)
