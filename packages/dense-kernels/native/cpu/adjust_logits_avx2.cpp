// adjust_logits on the CPU, built for AVX2. Steps: body/adjust_logits.h.

#include "body/adjust_logits.h"

void adjust_logits_avx2(const AdjustLogitsParams* p, const CpuContext* context) {
  adjust_all(p, context);
}
void restore_logits_avx2(const AdjustLogitsParams* p, const CpuContext* context) {
  restore_all(p, context);
}
