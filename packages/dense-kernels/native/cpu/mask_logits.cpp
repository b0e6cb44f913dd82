// mask_logits on the CPU: the exported entry and its baseline build. Steps: body/mask_logits.h.

#include "body/mask_logits.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(mask_logits_f32, MaskLogitsParams, mask_logits)
