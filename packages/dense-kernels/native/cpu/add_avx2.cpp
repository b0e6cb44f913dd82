// add on the CPU, built for AVX2. Steps: body/add.h.

#include "body/add.h"

void add_bf16_avx2(const AddParams* p, const CpuContext* context) { add<Bf16>(p, context); }
void add_f32_avx2(const AddParams* p, const CpuContext* context) { add<float>(p, context); }
