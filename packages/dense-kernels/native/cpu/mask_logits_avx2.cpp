// mask_logits on the CPU, built for AVX2. Steps: body/mask_logits.h.

#include "body/mask_logits.h"

void mask_logits_f32_avx2(const MaskLogitsParams* p, const CpuContext* context) {
  mask_logits(p, context);
}
