// sampling on the CPU: the exported entry and its baseline build. Steps: body/sampling.h.

#include "body/sampling.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(sampling, SamplingParams, sample)
