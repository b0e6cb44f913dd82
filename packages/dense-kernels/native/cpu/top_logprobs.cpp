// top_logprobs on the CPU: the exported entry and its baseline build. Steps: body/top_logprobs.h.

#include "body/top_logprobs.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(top_logprobs, TopLogprobsParams, top_logprobs_all)
