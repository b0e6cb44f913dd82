// linear on CUDA for rows of any alignment: bf16 x on tensor cores, any number of tokens, 8 of them
// a block. A block has 16 outputs and a warp for each slice of the row, a unit of 64 columns at a
// time straight from memory; the slices meet in shared memory at the end. Made to be right and
// short.
//
// linear_stream.cu and linear_tile.cu want rows at multiples of 16 bytes, linear_fma.cu f32 weights
// or f32 x.
#include "dense_kernels/linear.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "device/linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMostSlices = 8;

using Partials = float[kMostSlices][kTokenTile * kRowTile];

// The warp's slice, for 16 outputs and 8 tokens. Outputs behind the last are the last, tokens
// zeros.
template <typename Weight>
__device__ __forceinline__ void sum_slice(float (&acc)[1][4], const LinearParams& p,
                                          int first_output, int64_t first_token) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int64_t top_row = min(first_output + g, p.out - 1);
  const int64_t bottom_row = min(first_output + g + 8, p.out - 1);
  const int64_t token = first_token + g;
  const Bf16* x_row = static_cast<const Bf16*>(p.x) + token * p.x_stride;
  const int begin = warp_id() * (p.slice / kUnit);
  const int end = min(begin + p.slice / kUnit, (p.in + kUnit - 1) / kUnit);
#pragma unroll 1
  for (int unit = begin; unit < end; ++unit) {
    RowUnit<Weight> top, bottom;
    top.template stream<false>(p, top_row, unit, q);
    bottom.template stream<false>(p, bottom_row, unit, q);
    uint4 x[1][2];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int column = unit * kUnit + x_column<Weight>(part, q);
      x[0][part] = load_columns<false>(x_row, column, token < p.tokens ? p.in : 0);
    }
    multiply_unit<Weight, 1>(acc, top, bottom, x);
  }
}

// Grid: outputs / 16, tokens / 8. Block: a warp a slice.
template <typename Weight, typename Y>
__device__ __forceinline__ void unaligned_linear(const LinearParams& p) {
  __shared__ Partials partials;
  const int first_output = blockIdx.x * kRowTile;
  const int64_t first_token = int64_t{blockIdx.y} * kTokenTile;
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  wait_and_trigger();
  float acc[1][4] = {};
  sum_slice<Weight>(acc, p, first_output, first_token);
  float* own = partials[warp_id()];
  own[2 * q * kRowTile + g] = acc[0][0];
  own[(2 * q + 1) * kRowTile + g] = acc[0][1];
  own[2 * q * kRowTile + g + 8] = acc[0][2];
  own[(2 * q + 1) * kRowTile + g + 8] = acc[0][3];
  __syncthreads();
  const int slices = slices_of(p);
  for (int i = threadIdx.x; i < kTokenTile * kRowTile; i += blockDim.x) {
    const int64_t token = first_token + i / kRowTile;
    const int output = first_output + i % kRowTile;
    if (token >= p.tokens || output >= p.out) continue;
    float total = 0.0f;
#pragma unroll 1
    for (int slice = 0; slice < slices; ++slice) total += partials[slice][i];
    write_y<Y>(p, token, output, total);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_bf16_f32(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Bf16Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_bf16_bf16_bf16(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Bf16Weight, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_bf16_f32(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Mxfp8Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    linear_mxfp8_bf16_bf16(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Mxfp8Weight, cuda::Bf16>(p);
}
