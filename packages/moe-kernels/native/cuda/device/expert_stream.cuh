// Experts with few rows each (decode): weights stream from memory straight into the registers of
// the tensor cores, each byte once for 16 rows of activations; those come through the first-level
// cache.
//
// A warp takes one row tile of 16 weight rows and every k-th slice of the columns, where the plan
// shares the slices among k warps: block [32, k, row tiles]. While the sums of a round are joined,
// the next slice is on its way. Sums of slices are joined in ascending order (expert_weights.cuh).
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "expert_problems.cuh"
#include "expert_tiles.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kStreamWarps = 8;    // of a block
constexpr int kStreamTokens = 16;  // rows of a tile: two fragments of 8
constexpr int kStreamPitch = 20;   // floats of a row of partial sums, spread over the banks

struct StreamShared {
  // Two buffers, so that one barrier a round will do.
  float partial[2][kStreamWarps][kRowTile][kStreamPitch];
  float2 total[kStreamWarps][kPairs * kStreamTokens];      // of a row tile: rows r and r + 8
};

// What a warp reads; rows g and g + 8 of a row tile and tokens g and g + 8 are a lane's.
struct StreamRows {
  const uint8_t* weight[2];
  const uint8_t* scale[2];
  const uint8_t* token[2];  // null = no such row in the tile
  int32_t columns;
  bool whole;         // rows of weights and tokens start at multiples of 16 bytes and fill them
  bool scales_whole;  // ScaleRow
};

// A slice of two weight rows as a lane holds it.
struct StreamSlice {
  uint4 raw[kGroups][2];
  uint2 scales[2];
};

// Whether all columns of a slice exist and can be read 16 bytes at a time.
template <typename W>
__device__ __forceinline__ bool is_plain(const StreamRows& rows, int32_t slice) {
  return rows.whole && (slice + 1) * W::kSlice <= rows.columns;
}

// The lane's 16 bytes of a weight row, zeros behind the row.
template <typename W, bool kIsPlain>
__device__ __forceinline__ uint4 load_weights(const StreamRows& rows, const uint8_t* row,
                                              int32_t column) {
  const uint8_t* from = row + int64_t{column} * W::kElementBytes;
  if constexpr (kIsPlain) return dense_kernels::cuda::load16_streaming(from);
  return gather16(from, (rows.columns - column) * W::kElementBytes);
}

template <typename W, bool kIsPlain>
__device__ __forceinline__ void load_slice(const StreamRows& rows, int32_t slice, int q,
                                           StreamSlice& to) {
  const int32_t first = slice * W::kSlice + q * W::kLaneColumns;
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      to.raw[group][i] =
          load_weights<W, kIsPlain>(rows, rows.weight[i], first + group * W::kGroup);
    }
  }
  if constexpr (W::kIsScaled) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const ScaleRow scales = {rows.scale[i], rows.columns / kScaleColumns, rows.scales_whole};
      const int32_t block = slice * (W::kSlice / kScaleColumns);
      to.scales[i] = {load_scales(scales, block), load_scales(scales, block + 4)};
    }
  }
}

// The lane's columns of a token in a group, zeros where there is no token or column.
template <typename W, bool kIsPlain>
__device__ __forceinline__ void load_token(const StreamRows& rows, const uint8_t* token,
                                           int32_t column, uint32_t (&word)[kLaneWords<W>]) {
#pragma unroll
  for (int i = 0; i < kLaneWords<W> / 4; ++i) {
    uint4 raw = {0, 0, 0, 0};
    if (token != nullptr) {
      const int32_t first = column + i * 8;
      const uint8_t* from = token + int64_t{first} * 2;
      raw = kIsPlain ? dense_kernels::cuda::load16(from)
                     : gather16(from, (rows.columns - first) * 2);
    }
    word[4 * i] = raw.x;
    word[4 * i + 1] = raw.y;
    word[4 * i + 2] = raw.z;
    word[4 * i + 3] = raw.w;
  }
}

// sum[n] += the slice times tokens 8n … 8n+7 of the tile.
template <typename W, bool kIsPlain, int kFragments>
__device__ __forceinline__ void multiply_slice(const StreamRows& rows, const StreamSlice& slice,
                                               int32_t number, int q,
                                               float (&sum)[kFragments][4]) {
  const int32_t first = number * W::kSlice + q * W::kLaneColumns;
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    uint32_t low[kLaneWords<W>];
    uint32_t high[kLaneWords<W>];
    W::widen(slice.raw[group][0], scale_of_lane(slice.scales[0], group, q), low);
    W::widen(slice.raw[group][1], scale_of_lane(slice.scales[1], group, q), high);
#pragma unroll
    for (int n = 0; n < kFragments; ++n) {
      uint32_t token[kLaneWords<W>];
      load_token<W, kIsPlain>(rows, rows.token[n], first + group * W::kGroup, token);
#pragma unroll
      for (int step = 0; step < kLaneWords<W> / 2; ++step) {
        const uint32_t a[4] = {low[2 * step], high[2 * step], low[2 * step + 1],
                               high[2 * step + 1]};
        const uint32_t b[2] = {token[2 * step], token[2 * step + 1]};
        dense_kernels::cuda::mma_bf16(sum[n], a, b);
      }
    }
  }
}

template <typename W, typename Problem>
__device__ __forceinline__ StreamRows rows_of_lane(const Problem& problem, const RowTile& tile,
                                                   int32_t row_tile, int g) {
  StreamRows rows;
  rows.columns = problem.columns();
  const int64_t weight_bytes = int64_t{rows.columns} * W::kElementBytes;
  const int32_t scale_blocks = rows.columns / kScaleColumns;
  const uint8_t* weights = static_cast<const uint8_t*>(problem.weights());
  const uint8_t* scales = static_cast<const uint8_t*>(problem.p.scales);
  const uint8_t* activations = static_cast<const uint8_t*>(problem.activations());
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int64_t row =
        tile.expert * problem.weight_rows() + problem.weight_row(row_tile, g + i * kPairs);
    rows.weight[i] = weights + row * weight_bytes;
    rows.scale[i] = scales + row * scale_blocks;
    const int token = g + i * 8;
    rows.token[i] = nullptr;
    if (token < tile.count) {
      const int64_t from = problem.activation_row(tile.first + token);
      rows.token[i] = activations + from * rows.columns * 2;
    }
  }
  rows.whole = dense_kernels::cuda::is_aligned(weights) && weight_bytes % 16 == 0 &&
               dense_kernels::cuda::is_aligned(activations) && rows.columns % 8 == 0;
  rows.scales_whole = scale_rows_are_whole(scales, scale_blocks);
  return rows;
}

// Adds the partial sums of a round's warps to the totals, slices ascending. Thread `i` of the row
// tile's `threads` owns pairs i, i + threads, … of `pairs`.
__device__ __forceinline__ void join_round(StreamShared& shared, int buffer, int first_warp,
                                           int warps, int i, int pairs) {
  const int threads = static_cast<int>(blockDim.y) * dense_kernels::cuda::kWarp;
  for (int pair = i; pair < pairs; pair += threads) {
    float2 sum = shared.total[first_warp][pair];
    for (int w = 0; w < warps; ++w) {
      const auto& partial = shared.partial[buffer][first_warp + w];
      sum.x += partial[pair % kPairs][pair / kPairs];
      sum.y += partial[pair % kPairs + kPairs][pair / kPairs];
    }
    shared.total[first_warp][pair] = sum;
  }
}

// Writes the row tile's finished results, 16 bytes of bf16 a token by 8 neighbouring threads.
template <typename Problem>
__device__ __forceinline__ void write_totals(const Problem& problem, const RowTile& tile,
                                             int32_t row_tile, const float2* total, int i) {
  const int threads = static_cast<int>(blockDim.y) * dense_kernels::cuda::kWarp;
  const int32_t first = row_tile * Problem::kTileOutputs;
  for (int pair = i; pair < kPairs * tile.count; pair += threads) {
    const float2 sum = total[pair];
    const int64_t row = tile.first + pair / kPairs;
    dense_kernels::cuda::Bf16* y =
        static_cast<dense_kernels::cuda::Bf16*>(problem.results()) + row * problem.outputs();
    problem.finish(pair % kPairs, sum.x, sum.y, [&](int output, float value) {
      if (first + output < problem.outputs()) {
        y[first + output] =
            dense_kernels::cuda::round_to<dense_kernels::cuda::Bf16>(value);
      }
    });
  }
}

// One unit with up to 8 * kFragments rows of activations. `round` counts the block's rounds.
template <typename W, int kFragments, typename Problem>
__device__ __forceinline__ void run_stream_unit(const Problem& problem, const Unit& unit,
                                                StreamShared& shared, uint32_t& round) {
  const int g = threadIdx.x / 4;
  const int q = threadIdx.x % 4;
  const int sharers = blockDim.y;
  const int own = threadIdx.y;
  const int first_warp = threadIdx.z * sharers;
  const int thread = own * dense_kernels::cuda::kWarp + threadIdx.x;
  const int32_t row_tile = unit.block * blockDim.z + threadIdx.z;
  const bool works = row_tile < row_tiles(problem);
  const int32_t slices = (problem.columns() + W::kSlice - 1) / W::kSlice;
  const int pairs = kPairs * 8 * kFragments;
  for (int pair = thread; pair < pairs; pair += sharers * dense_kernels::cuda::kWarp) {
    shared.total[first_warp][pair] = {0.0f, 0.0f};
  }
  const StreamRows rows = rows_of_lane<W>(problem, unit.tile, works ? row_tile : 0, g);
  StreamSlice slice = {};
  const auto load = [&](int32_t number) {
    if (is_plain<W>(rows, number)) {
      load_slice<W, true>(rows, number, q, slice);
    } else {
      load_slice<W, false>(rows, number, q, slice);
    }
  };
  if (works && own < slices) load(own);
  for (int32_t first = 0; first < slices; first += sharers, ++round) {
    float sum[kFragments][4] = {};
    const int32_t number = first + own;
    if (works && number < slices) {
      if (is_plain<W>(rows, number)) {
        multiply_slice<W, true, kFragments>(rows, slice, number, q, sum);
      } else {
        multiply_slice<W, false, kFragments>(rows, slice, number, q, sum);
      }
    }
    if (works && number + sharers < slices) load(number + sharers);
    auto& partial = shared.partial[round % 2][first_warp + own];
#pragma unroll
    for (int n = 0; n < kFragments; ++n) {
      *reinterpret_cast<float2*>(&partial[g][n * 8 + 2 * q]) = {sum[n][0], sum[n][1]};
      *reinterpret_cast<float2*>(&partial[g + 8][n * 8 + 2 * q]) = {sum[n][2], sum[n][3]};
    }
    __syncthreads();
    join_round(shared, round % 2, first_warp, min(sharers, slices - first), thread, pairs);
  }
  if (works) write_totals(problem, unit.tile, row_tile, shared.total[first_warp], thread);
}

// Dynamic shared memory: `before` [experts + 1].
template <typename W, typename Problem>
__device__ __forceinline__ void run_stream(const Problem& problem, int32_t* before) {
  __shared__ StreamShared shared;
  dense_kernels::cuda::wait_for_predecessors();
  dense_kernels::cuda::launch_dependents();
  const ExpertTiles tiles = {static_cast<const int32_t*>(problem.p.offsets), before,
                             problem.p.experts, problem.p.slots, kStreamTokens};
  const int32_t wide = blockDim.z;  // row tiles of a block
  const int32_t blocks = (row_tiles(problem) + wide - 1) / wide;
  const int64_t units = int64_t{list_tiles(tiles)} * blocks;
  uint32_t round = 0;
  for (int64_t number = blockIdx.x; number < units; number += gridDim.x) {
    const Unit unit = find_unit(tiles, number, blocks);
    if (unit.tile.count <= 8) {
      run_stream_unit<W, 1>(problem, unit, shared, round);
    } else {
      run_stream_unit<W, 2>(problem, unit, shared, round);
    }
  }
}

}  // namespace moe_kernels::cuda

#endif
