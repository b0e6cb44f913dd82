// Experts with few rows each (decode): weights stream from memory through a ring in shared memory
// (expert_ring.cuh) to the tensor cores, each byte once for 16 rows of activations; those come
// through the first-level cache.
//
// A warp takes one row tile of 16 weight rows and every k-th slice of the columns, where the plan
// shares the slices among k warps: block [32, k, row tiles]. Sums of slices are joined in ascending
// order (expert_weights.cuh).
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "expert_problems.cuh"
#include "expert_ring.cuh"
#include "expert_tiles.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kStreamWarps = 8;    // of a block
constexpr int kStreamTokens = 16;  // rows of a tile: two fragments of 8
constexpr int kStreamPitch = 20;   // floats of a row of partial sums, spread over the banks

struct StreamShared {
  RingStage ring[kStreamWarps][kRingStages];
  // Two buffers, so that one barrier a round will do.
  float partial[2][kStreamWarps][kRowTile][kStreamPitch];
  float2 total[kStreamWarps][kPairs * kStreamTokens];  // of a row tile: rows r and r + 8
};

// The tokens of a tile: g and g + 8 are a lane's.
struct StreamTokens {
  const uint8_t* token[2];  // null = no such row in the tile
  int32_t columns;
  bool whole;  // rows start at multiples of 16 bytes and fill them
};

template <typename Problem>
__device__ __forceinline__ StreamTokens tokens_of_lane(const Problem& problem,
                                                       const RowTile& tile) {
  const uint8_t* activations = static_cast<const uint8_t*>(problem.activations());
  StreamTokens tokens;
  tokens.columns = problem.columns();
  tokens.whole = dense_kernels::cuda::is_aligned(activations) && tokens.columns % 8 == 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int token = threadIdx.x / 4 + i * 8;
    tokens.token[i] = nullptr;
    if (token < tile.count) {
      const int64_t from = problem.activation_row(tile.first + token);
      tokens.token[i] = activations + from * tokens.columns * 2;
    }
  }
  return tokens;
}

// The lane's columns of a token in a group, zeros where there is no token or column.
template <typename W, bool kIsPlain>
__device__ __forceinline__ void load_token(const StreamTokens& tokens, const uint8_t* token,
                                           int32_t column, uint32_t (&word)[kLaneWords<W>]) {
#pragma unroll
  for (int i = 0; i < kLaneWords<W> / 4; ++i) {
    uint4 raw = {0, 0, 0, 0};
    if (token != nullptr) {
      const int32_t first = column + i * 8;
      const uint8_t* from = token + int64_t{first} * 2;
      raw = kIsPlain ? dense_kernels::cuda::load16(from)
                     : gather16(from, (tokens.columns - first) * 2);
    }
    word[4 * i] = raw.x;
    word[4 * i + 1] = raw.y;
    word[4 * i + 2] = raw.z;
    word[4 * i + 3] = raw.w;
  }
}

// sum[n] += the slice times tokens 8n … 8n+7 of the tile. `kIsPlain`: the slice is whole and its weights
// are not special; whether they are after all is the result, and `sum` is worth nothing then. The other
// way takes anything, in little code: what a warp runs once it has to fetch first.
template <typename W, bool kIsPlain, int kFragments>
__device__ __forceinline__ bool multiply_slice(const StreamTokens& tokens, const RingStage& stage,
                                               int32_t slice, float (&sum)[kFragments][4]) {
  const int lane = threadIdx.x;
  const int g = lane / 4;
  const int q = lane % 4;
  const int32_t first = slice * W::kSlice + q * W::kLaneColumns;
  uint2 scales[2] = {};
  if constexpr (W::kIsScaled) {
    scales[0] = {stage.scales[g][0], stage.scales[g][1]};
    scales[1] = {stage.scales[g + kPairs][0], stage.scales[g + kPairs][1]};
  }
  bool is_special = false;
#pragma unroll(kIsPlain ? 2 : 1)
  for (int group = 0; group < kGroups; ++group) {
    uint32_t low[kLaneWords<W>];
    uint32_t high[kLaneWords<W>];
    const uint4 raw[2] = {stage.raw[group][0][lane], stage.raw[group][1][lane]};
    const uint32_t own[2] = {scale_of_lane(scales[0], group, q), scale_of_lane(scales[1], group, q)};
    if constexpr (kIsPlain) {
      W::widen_plain(raw[0], own[0], low);
      W::widen_plain(raw[1], own[1], high);
      is_special |= W::is_special(raw[0], own[0]) | W::is_special(raw[1], own[1]);
    } else {
      W::widen(raw[0], own[0], low);
      W::widen(raw[1], own[1], high);
    }
#pragma unroll
    for (int n = 0; n < kFragments; ++n) {
      uint32_t token[kLaneWords<W>];
      load_token<W, kIsPlain>(tokens, tokens.token[n], first + group * W::kGroup, token);
#pragma unroll
      for (int step = 0; step < kLaneWords<W> / 2; ++step) {
        const uint32_t a[4] = {low[2 * step], high[2 * step], low[2 * step + 1],
                               high[2 * step + 1]};
        const uint32_t b[2] = {token[2 * step], token[2 * step + 1]};
        dense_kernels::cuda::mma_bf16(sum[n], a, b);
      }
    }
  }
  return is_special;
}

// Multiplies the oldest slice of the ring and asks for another in its place. `sum` is 0 before.
template <typename W, int kFragments, typename Problem>
__device__ __forceinline__ void take_slice(const StreamTokens& tokens, int32_t slice,
                                           RingLoader<W, Problem>& loader,
                                           float (&sum)[kFragments][4]) {
  dense_kernels::cuda::wait_copies<kRingStages - 1>();
  __syncwarp();  // the scales came through other lanes
  const RingStage& stage = loader.ring[loader.loads % kRingStages];
  bool is_done = false;
  if (tokens.whole && (slice + 1) * W::kSlice <= tokens.columns) {
    const bool is_special = multiply_slice<W, true, kFragments>(tokens, stage, slice, sum);
    is_done = !__any_sync(dense_kernels::cuda::kAllLanes, is_special);
  }
  if (!is_done) {
#pragma unroll
    for (int n = 0; n < kFragments; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[n][i] = 0.0f;
    }
    multiply_slice<W, false, kFragments>(tokens, stage, slice, sum);
  }
  __syncwarp();  // the stage is used up
  loader.load();
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
                                                RingLoader<W, Problem>& loader,
                                                StreamShared& shared, uint32_t& round) {
  const int g = threadIdx.x / 4;
  const int q = threadIdx.x % 4;
  const int sharers = blockDim.y;
  const int own = threadIdx.y;
  const int first_warp = threadIdx.z * sharers;
  const int thread = own * dense_kernels::cuda::kWarp + threadIdx.x;
  const int32_t row_tile = unit.block * static_cast<int32_t>(blockDim.z) + threadIdx.z;
  const bool works = row_tile < row_tiles(problem);
  const int32_t slices = (problem.columns() + W::kSlice - 1) / W::kSlice;
  const int pairs = kPairs * 8 * kFragments;
  for (int pair = thread; pair < pairs; pair += sharers * dense_kernels::cuda::kWarp) {
    shared.total[first_warp][pair] = {0.0f, 0.0f};
  }
  const StreamTokens tokens = tokens_of_lane(problem, unit.tile);
  for (int32_t first = 0; first < slices; first += sharers, ++round) {
    float sum[kFragments][4] = {};
    if (works && first + own < slices) {
      take_slice<W, kFragments>(tokens, first + own, loader, sum);
    }
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

// Dynamic shared memory: StreamShared, then `before` [experts + 1].
template <typename W, typename Problem>
__device__ __forceinline__ void run_stream(const Problem& problem, uint4* memory) {
  auto& shared = *reinterpret_cast<StreamShared*>(memory);
  int32_t* before = reinterpret_cast<int32_t*>(&shared + 1);
  dense_kernels::cuda::wait_for_predecessors();
  dense_kernels::cuda::launch_dependents();
  const ExpertTiles tiles = {static_cast<const int32_t*>(problem.p.offsets), before,
                             problem.p.experts, problem.p.slots, kStreamTokens};
  const int32_t wide = static_cast<int32_t>(blockDim.z);  // row tiles of a block
  const int32_t blocks = (row_tiles(problem) + wide - 1) / wide;
  const UnitRange range = {tiles, int64_t{list_tiles(tiles)} * blocks, blocks};
  RingStage* ring = shared.ring[threadIdx.z * blockDim.y + threadIdx.y];
  RingLoader<W, Problem> loader(problem, range, ring);
  uint32_t round = 0;
  for (int64_t number = blockIdx.x; number < range.units; number += gridDim.x) {
    const Unit unit = find_unit(tiles, number, blocks);
    if (unit.tile.count <= 8) {
      run_stream_unit<W, 1>(problem, unit, loader, shared, round);
    } else {
      run_stream_unit<W, 2>(problem, unit, loader, shared, round);
    }
  }
}

}  // namespace moe_kernels::cuda

#endif
