// linear on CUDA for few tokens: bf16 x on tensor cores, weights streamed from memory once per 8 to
// 32 tokens. A block has 16 outputs and a warp for each slice of the row; a warp goes through its
// slice alone, weights straight from memory to registers one batch ahead of the tensor cores, and the
// slices meet in shared memory at the end. Bound by reading the weights.
//
// linear_tile.cu has many tokens, linear_fma.cu f32 weights or f32 x.
#include "dense_kernels/linear.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "device/linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMostSlices = 16;
constexpr int kMostTokens = 32;  // of a block

// Units of a batch: 8 loads of 16 bytes a lane for bf16, 6 for MXFP8 (the most without spills), fewer
// where the registers are needed for tokens, and without alignment, where a load is many.
template <typename Weight, bool kAligned, int kTiles>
constexpr int kUnitsAtOnce =
    !kAligned ? 1 : sizeof(typename Weight::Element) == 2 || kTiles == 4 ? 2 : 3;

template <typename Weight, int kUnits>
struct Batch {
  RowUnit<Weight> top[kUnits];
  RowUnit<Weight> bottom[kUnits];
};

// What a warp works on.
struct WarpJob {
  int64_t top, bottom;  // the lane's two weight rows; those behind the last are the last
  int64_t first_token;  // of the block
  int end;              // unit behind the slice
};

template <typename Weight, bool kAligned, int kUnits>
__device__ __forceinline__ void stream_batch(Batch<Weight, kUnits>& batch, const LinearParams& p,
                                             const WarpJob& job, int unit) {
  const int q = lane_id() % 4;
#pragma unroll
  for (int i = 0; i < kUnits; ++i) {
    if (unit + i >= job.end) continue;
    batch.top[i].template stream<kAligned>(p, job.top, unit + i, q);
    batch.bottom[i].template stream<kAligned>(p, job.bottom, unit + i, q);
  }
}

// Whether the plain conversion (kSpecial false) was wrong for a weight of the lane.
template <bool kSpecial, typename Weight, bool kAligned, int kTiles, int kUnits>
__device__ __forceinline__ bool multiply_batch(float (&acc)[kTiles][4],
                                               const Batch<Weight, kUnits>& batch,
                                               const LinearParams& p, const WarpJob& job,
                                               int unit) {
  bool is_special = false;
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
#pragma unroll
  for (int i = 0; i < kUnits; ++i) {
    if (unit + i >= job.end) continue;
    uint4 x[kTiles][2];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int64_t token = job.first_token + tile * kTokenTile + g;
      const Bf16* row = static_cast<const Bf16*>(p.x) + token * p.x_stride;
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const int column = (unit + i) * kUnit + x_column<Weight>(part, q);
        const int columns = token < p.tokens ? p.in : 0;
        x[tile][part] = load_columns<kAligned>(row, column, columns);
      }
    }
    multiply_steps<kSpecial, Weight, kTiles>(acc, batch.top[i], batch.bottom[i], x);
    if constexpr (!kSpecial) is_special |= batch.top[i].is_special() | batch.bottom[i].is_special();
  }
  return is_special;
}

// The same for a slice with weights that are special, a unit at a time.
template <typename Weight, bool kAligned, int kTiles>
__device__ __forceinline__ void sum_special(float (&acc)[kTiles][4], const LinearParams& p,
                                            const WarpJob& job, int begin) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[tile][i] = 0.0f;
  }
  Batch<Weight, 1> batch;
#pragma unroll 1
  for (int unit = begin; unit < job.end; ++unit) {
    stream_batch<Weight, kAligned, 1>(batch, p, job, unit);
    multiply_batch<true, Weight, kAligned, kTiles, 1>(acc, batch, p, job, unit);
  }
}

// The warp's slice, for 16 outputs and kTiles times 8 tokens. Special weights are found on the way and
// summed again: so the code is short, which counts where every kernel of a step is fetched anew.
template <typename Weight, bool kAligned, int kTiles>
__device__ __forceinline__ void sum_slice(float (&acc)[kTiles][4], const LinearParams& p,
                                          const WarpJob& job, int begin) {
  constexpr int kStep = kUnitsAtOnce<Weight, kAligned, kTiles>;
  Batch<Weight, kStep> even;
  Batch<Weight, kStep> odd;
  stream_batch<Weight, kAligned, kStep>(even, p, job, begin);
  stream_batch<Weight, kAligned, kStep>(odd, p, job, begin + kStep);
  wait_and_trigger();  // weights are on their way; x is a predecessor's
  bool is_special = false;
  for (int unit = begin; unit < job.end; unit += 2 * kStep) {
    is_special |= multiply_batch<false, Weight, kAligned, kTiles, kStep>(acc, even, p, job, unit);
    stream_batch<Weight, kAligned, kStep>(even, p, job, unit + 2 * kStep);
    is_special |=
        multiply_batch<false, Weight, kAligned, kTiles, kStep>(acc, odd, p, job, unit + kStep);
    stream_batch<Weight, kAligned, kStep>(odd, p, job, unit + 3 * kStep);
  }
  if (__any_sync(kAllLanes, is_special)) sum_special<Weight, kAligned, kTiles>(acc, p, job, begin);
}

using Partials = float[kMostSlices][kMostTokens * kRowTile];

// Adds the slices in order; neighbouring threads have neighbouring outputs.
template <typename Y, int kTiles>
__device__ __forceinline__ void join_slices(const LinearParams& p, const Partials& partials,
                                            int64_t first_token, int first_output) {
  const int slices = slices_of(p);
  for (int i = threadIdx.x; i < kTiles * kTokenTile * kRowTile; i += blockDim.x) {
    const int64_t token = first_token + i / kRowTile;
    const int output = first_output + i % kRowTile;
    if (token >= p.tokens || output >= p.out) continue;
    float total = 0.0f;
    for (int slice = 0; slice < slices; ++slice) total += partials[slice][i];
    write_y<Y>(p, token, output, total);
  }
}

// Grid: outputs / 16, tokens / (8 kTiles). Block: a warp a slice.
template <typename Weight, typename Y, bool kAligned, int kTiles>
__device__ __forceinline__ void run_block(const LinearParams& p, Partials& partials) {
  const int first_output = blockIdx.x * kRowTile;
  const int64_t first_token = int64_t{blockIdx.y} * (kTiles * kTokenTile);
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int begin = warp_id() * (p.slice / kUnit);
  const int units = (p.in + kUnit - 1) / kUnit;
  const WarpJob job{min(first_output + g, p.out - 1), min(first_output + g + 8, p.out - 1),
                    first_token, min(begin + p.slice / kUnit, units)};
  float acc[kTiles][4] = {};
  sum_slice<Weight, kAligned, kTiles>(acc, p, job, begin);
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int token = tile * kTokenTile + 2 * q;
    float* own = partials[warp_id()];
    own[token * kRowTile + g] = acc[tile][0];
    own[(token + 1) * kRowTile + g] = acc[tile][1];
    own[token * kRowTile + g + 8] = acc[tile][2];
    own[(token + 1) * kRowTile + g + 8] = acc[tile][3];
  }
  __syncthreads();
  join_slices<Y, kTiles>(p, partials, first_token, first_output);
}

template <typename Weight, typename Y>
__device__ __forceinline__ void stream_linear(const LinearParams& p) {
  __shared__ Partials partials;
  if (p.tokens <= kTokenTile) {
    run_block<Weight, Y, true, 1>(p, partials);
  } else if (p.tokens <= 2 * kTokenTile) {
    run_block<Weight, Y, true, 2>(p, partials);
  } else {
    run_block<Weight, Y, true, 4>(p, partials);
  }
}

// Any alignment, any number of tokens; 8 of them a block.
template <typename Weight, typename Y>
__device__ __forceinline__ void unaligned_linear(const LinearParams& p) {
  __shared__ Partials partials;
  run_block<Weight, Y, false, 1>(p, partials);
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_bf16_bf16_f32(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Bf16Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_bf16_bf16_bf16(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Bf16Weight, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_f32(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Mxfp8Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_bf16(__grid_constant__ const LinearParams p) {
  cuda::unaligned_linear<cuda::Mxfp8Weight, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_bf16_bf16_f32_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_bf16_bf16_bf16_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Weight, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_f32_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_bf16_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Weight, cuda::Bf16>(p);
}
