// Scale bytes between row-major order and 128 x 4 tiles on the CPU, built for AVX2. Steps:
// body/pack_mxfp8_scales.h.

#include "body/pack_mxfp8_scales.h"

void pack_mxfp8_scales_avx2(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  pack(p, context);
}

void unpack_mxfp8_scales_avx2(const PackMxfp8ScalesParams* p, const CpuContext* context) {
  unpack(p, context);
}
