// Masked rows of logits on CUDA: a row of blocks each, ids by threads, so that loads and stores are
// coalesced and a warp reads one word of the mask. Bound by memory.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/mask_logits.h"

extern "C" __global__ void __launch_bounds__(256)
    mask_logits_f32(__grid_constant__ const MaskLogitsParams p) {
  dense_kernels::cuda::wait_and_trigger();
  const float forbidden = -__int_as_float(0x7f800000);
  const int step = gridDim.x * blockDim.x;
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int row = blockIdx.y; row < p.count; row += gridDim.y) {
    const int source = static_cast<const int32_t*>(p.sources)[row];
    const bool is_row = source >= 0 && source < p.rows;
    const uint32_t* mask = static_cast<const uint32_t*>(p.mask) + int64_t{row} * p.words;
    const float* from =
        static_cast<const float*>(p.logits) + (is_row ? source : 0) * p.logits_stride;
    float* to = static_cast<float*>(p.y) + int64_t{row} * p.vocab;
    for (int id = first; id < p.vocab; id += step) {
      const bool is_allowed = is_row && (mask[id >> 5] >> (id & 31) & 1) != 0;
      to[id] = is_allowed ? from[id] : forbidden;
    }
  }
}
