// Scale bytes between row-major order and 128 x 4 tiles on the CPU: the exported entries and their
// baseline build. Steps: body/pack_mxfp8_scales.h.

#include "body/pack_mxfp8_scales.h"

#include "body/entry.h"

DENSE_KERNELS_ENTRY(pack_mxfp8_scales, PackMxfp8ScalesParams, pack)
DENSE_KERNELS_ENTRY(unpack_mxfp8_scales, PackMxfp8ScalesParams, unpack)
