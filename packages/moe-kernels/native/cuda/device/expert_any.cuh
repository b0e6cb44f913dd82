// Units of the streaming kernels straight from memory, whatever the addresses of the rows and the
// number of columns: right, in little code, not fast. And how sums become results.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_ANY_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_ANY_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "expert_problems.cuh"
#include "expert_units.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

// Writes the results of a pair of sums, rows g and g + 8 of the row tile, for one token.
template <typename Problem>
__device__ __forceinline__ void write_pair(const Problem& problem, const RowTile& tile,
                                           int32_t row_tile, int token, float low, float high) {
  using dense_kernels::cuda::Bf16;
  if (token >= tile.count) return;
  const int32_t first = row_tile * Problem::kTileOutputs;
  Bf16* y = static_cast<Bf16*>(problem.results()) +
            int64_t{tile.first + token} * problem.outputs() + first;
  problem.finish(static_cast<int>(threadIdx.x) / 4, low, high, [&](int output, float value) {
    if (first + output < problem.outputs()) {
      y[output] = dense_kernels::cuda::round_to<Bf16>(value);
    }
  });
}

// The same for the sums of a fragment, which begins with `token`.
template <typename Problem>
__device__ __forceinline__ void write_sums(const Problem& problem, const RowTile& tile,
                                           int32_t row_tile, int token, const float (&sum)[4]) {
  float2 pair = {sum[0], sum[2]};
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    write_pair(problem, tile, row_tile, token + static_cast<int>(threadIdx.x) % 4 * 2 + i, pair.x,
               pair.y);
    pair = {sum[1], sum[3]};
  }
}

// Adds to `sum` a slice's sums of a lane for rows g and g + 8 of the row tile and the tile's tokens
// `token` + 2q, 2q + 1, in the order of mma_bf16. Tokens behind the last are the last again.
template <typename W, typename Problem>
__device__ __forceinline__ void sum_any_slice(const Problem& problem, const RowTile& tile,
                                              int32_t row_tile, int32_t slice, int token,
                                              float (&sum)[4]) {
  const int g = threadIdx.x / 4;
  const int q = threadIdx.x % 4;
  const int64_t columns = problem.columns();
  const int64_t expert_row = tile.expert * problem.weight_rows();
  const int64_t row[2] = {expert_row + problem.weight_row(row_tile, g),
                          expert_row + problem.weight_row(row_tile, g + kPairs)};
  const uint8_t* weights = static_cast<const uint8_t*>(problem.weights());
  const uint8_t* scales = static_cast<const uint8_t*>(problem.p.scales);
  const int64_t activation = problem.activation_row(tile.first + min(token + g, tile.count - 1));
  const uint8_t* x = static_cast<const uint8_t*>(problem.activations()) + activation * columns * 2;
#pragma unroll 1
  for (int group = 0; group < kGroups; ++group) {
    const int32_t column = slice * W::kSlice + group * W::kGroup + q * W::kLaneColumns;
    const int32_t left = static_cast<int32_t>(columns) - column;
    uint32_t a[2][kLaneWords<W>];
    uint32_t b[kLaneWords<W>];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      uint32_t scale = 0;
      if (W::kIsScaled && left > 0) {
        scale = scales[row[i] * (columns / kScaleColumns) + column / kScaleColumns];
      }
      const uint8_t* from = weights + (row[i] * columns + column) * W::kElementBytes;
      W::widen(gather16(from, left * W::kElementBytes), scale, a[i]);
    }
#pragma unroll
    for (int i = 0; i < kLaneWords<W> / 4; ++i) {
      const uint4 raw = gather16(x + int64_t{column + 8 * i} * 2, (left - 8 * i) * 2);
      b[4 * i] = raw.x;
      b[4 * i + 1] = raw.y;
      b[4 * i + 2] = raw.z;
      b[4 * i + 3] = raw.w;
    }
#pragma unroll
    for (int step = 0; step < kLaneWords<W> / 2; ++step) {
      const uint32_t rows[4] = {a[0][2 * step], a[1][2 * step], a[0][2 * step + 1],
                                a[1][2 * step + 1]};
      const uint32_t tokens[2] = {b[2 * step], b[2 * step + 1]};
      dense_kernels::cuda::mma_bf16(sum, rows, tokens);
    }
  }
}

// All units of a warp. A function of its own, so that its needs are not those of the fast way.
template <typename W, int kRows, typename Problem>
__device__ __noinline__ void run_any(const Problem problem, const UnitList list,
                                     const UnitShare share) {
  const int32_t slices = (problem.columns() + W::kSlice - 1) / W::kSlice;
#pragma unroll 1
  for (UnitWalk walk(list, share); walk.left > 0; walk.advance(list)) {
    const RowTile tile = walk.tile_of<kRows>(list);
#pragma unroll 1
    for (int token = 0; token < tile.count; token += 8) {
      float total[4] = {};
#pragma unroll 1
      for (int32_t s = 0; s < slices; ++s) {
        float sum[4] = {};
        sum_any_slice<W>(problem, tile, walk.row_tile, s, token, sum);
#pragma unroll
        for (int i = 0; i < 4; ++i) total[i] += sum[i];
      }
      write_sums(problem, tile, walk.row_tile, token, total);
    }
  }
}

}  // namespace moe_kernels::cuda

#endif
