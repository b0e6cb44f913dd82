// adjust_logits on the CPU: the exported entries and their baseline build. Steps:
// body/adjust_logits.h.

#include "body/adjust_logits.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(adjust_logits, AdjustLogitsParams, adjust_all)
DENSE_KERNELS_ENTRY(restore_logits, AdjustLogitsParams, restore_all)
