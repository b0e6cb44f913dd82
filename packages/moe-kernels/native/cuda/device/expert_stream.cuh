// Experts with few rows each (decode): weights stream from memory through a ring in shared memory
// (expert_ring.cuh) to the tensor cores; activations come through the first-level cache.
//
// A worker takes row tiles of 16 weight rows one after the other: a warp alone with all columns,
// or, where there are too few row tiles to keep the memory busy, a block whose warps share the
// columns (`kShares`). Either way the sums of slices are joined in ascending order
// (expert_weights.cuh).
//
// One loop over stages of two groups of columns, so that little machine code runs: in a decode step
// it is cold.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_STREAM_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "expert_any.cuh"
#include "expert_problems.cuh"
#include "expert_ring.cuh"
#include "expert_units.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kStreamWarps = 8;       // of a block [32, 8]
constexpr int kSharedColumns = 6144;  // most columns that warps may share; the plan knows it
constexpr int kFragmentTokens = 8;

// Rows of a tile.
template <bool kShares>
constexpr int kStreamTokens = kShares ? kFragmentTokens : 2 * kFragmentTokens;

// A slice's sums of a fragment, as the lanes hold them: rows g and g + 8 of tokens 2q, of 2q + 1.
struct ParkedSums {
  float2 pair[2][dense_kernels::cuda::kWarp];
};

template <typename W, bool kShares>
struct StreamShared {
  static constexpr int kParked = kShares ? kSharedColumns / W::kSlice : 1;
  uint4 ring[kStreamWarps][kRingStages * RingStage<W>::kBytes / 16];
  uint32_t factor[W::kIsScaled ? 256 : 1];  // of each scale: e8m0_to_bf16x2
  ParkedSums parked[kParked];
  int32_t actives[4];  // the first; the others keep what follows aligned
};

// The tokens of a unit: a lane's columns of tokens g and g + 8 in the stage that comes next. Those
// behind the last token are the last again; nothing comes of their sums.
template <typename W, int kFragments>
struct StreamTokens {
  const uint8_t* next[kFragments];
  int32_t left;  // stages to come, that one included

  // The lane's columns of fragment `n` in a group, as B operands.
  __device__ __forceinline__ void load(int n, int group, uint32_t (&word)[kLaneWords<W>]) const {
#pragma unroll
    for (int i = 0; i < kLaneWords<W> / 4; ++i) {
      const uint4 raw = dense_kernels::cuda::load16(next[n] + group * W::kGroup * 2 + 16 * i);
      word[4 * i] = raw.x;
      word[4 * i + 1] = raw.y;
      word[4 * i + 2] = raw.z;
      word[4 * i + 3] = raw.w;
    }
  }

  // To the next stage; stays on the last.
  __device__ __forceinline__ void advance() {
    if (--left <= 0) return;
#pragma unroll
    for (int n = 0; n < kFragments; ++n) next[n] += kRingColumns<W> * 2;
  }
};

template <typename W, int kFragments, typename Problem>
__device__ __forceinline__ StreamTokens<W, kFragments> tokens_of_lane(const Problem& problem,
                                                                      const RowTile& tile,
                                                                      const WarpColumns& columns) {
  StreamTokens<W, kFragments> tokens;
  tokens.left = columns.stages;
  const int32_t first = columns.first * W::kSlice + threadIdx.x % 4 * W::kLaneColumns;
#pragma unroll
  for (int n = 0; n < kFragments; ++n) {
    const int token = min(static_cast<int>(threadIdx.x) / 4 + n * kFragmentTokens, tile.count - 1);
    const int64_t row = problem.activation_row(tile.first + token);
    tokens.next[n] = static_cast<const uint8_t*>(problem.activations()) +
                     (row * problem.columns() + first) * 2;
  }
  return tokens;
}

// The warp's part of the launch.
template <typename W, bool kShares, typename Problem>
struct StreamWarp {
  typedef RingStage<W> Stage;

  const Problem& problem;
  const WarpColumns& columns;
  StreamShared<W, kShares>& shared;
  RingLoader<W, Problem>& loader;
  uint32_t raw_from;    // the lane's bytes of the ring
  uint32_t scale_from;  // the scale of the lane's first block of row g
  uint32_t factors;     // of all scales
  uint32_t stage;       // the oldest of the ring, in bytes behind its start

  // Multiplies the oldest stage of the ring and asks for another in its place. `token` has the
  // first fragment's first group, and the next stage's in the end.
  template <int kFragments>
  __device__ __forceinline__ void take_stage(StreamTokens<W, kFragments>& tokens,
                                             uint32_t (&token)[kLaneWords<W>],
                                             float (&sum)[kFragments][4]) {
    dense_kernels::cuda::wait_copies<kRingStages - 1>();
    __syncwarp();  // the scales came through other lanes
    uint32_t second[kLaneWords<W>];
    uint32_t other[kLaneWords<W>];  // of the second fragment, if there is one
    tokens.load(0, 1, second);
    if constexpr (kFragments > 1) tokens.load(1, 0, other);
#pragma unroll
    for (int group = 0; group < kStageGroups; ++group) {
      const uint32_t at = raw_from + stage + group * Stage::kGroup;
      const uint4 raw[2] = {load16_shared(at), load16_shared(at + Stage::kRows)};
      uint32_t factor[2] = {};
      if constexpr (W::kIsScaled) {
        const uint32_t scale = scale_from + stage + group * (W::kGroup / kScaleColumns);
        factor[0] = load4_shared(factors + 4 * load1_shared(scale));
        factor[1] = load4_shared(factors + 4 * load1_shared(scale + kPairs * Stage::kRowScales));
      }
      if (group == kStageGroups - 1) {
        __syncwarp();  // all lanes have their scales
        loader.load(stage);
        stage = stage == (kRingStages - 1) * Stage::kBytes ? 0 : stage + Stage::kBytes;
      }
      uint32_t low[kLaneWords<W>];
      uint32_t high[kLaneWords<W>];
      W::widen_by(raw[0], factor[0], low);
      W::widen_by(raw[1], factor[1], high);
      multiply(low, high, group == 0 ? token : second, sum[0]);
      if constexpr (kFragments > 1) multiply(low, high, other, sum[1]);
      if (group > 0) continue;
      if constexpr (kFragments > 1) tokens.load(1, 1, other);
      tokens.advance();
      tokens.load(0, 0, token);
    }
  }

  static __device__ __forceinline__ void multiply(const uint32_t (&low)[kLaneWords<W>],
                                                  const uint32_t (&high)[kLaneWords<W>],
                                                  const uint32_t (&token)[kLaneWords<W>],
                                                  float (&sum)[4]) {
#pragma unroll
    for (int step = 0; step < kLaneWords<W> / 2; ++step) {
      const uint32_t a[4] = {low[2 * step], high[2 * step], low[2 * step + 1], high[2 * step + 1]};
      const uint32_t b[2] = {token[2 * step], token[2 * step + 1]};
      dense_kernels::cuda::mma_bf16(sum, a, b);
    }
  }

  // One unit with up to 8 * kFragments rows: calls join(sums) for each slice, ascending.
  template <int kFragments, typename Join>
  __device__ __forceinline__ void sum_unit(const RowTile& tile, Join join) {
    StreamTokens<W, kFragments> tokens = tokens_of_lane<W, kFragments>(problem, tile, columns);
    uint32_t token[kLaneWords<W>];
    tokens.load(0, 0, token);
#pragma unroll 1
    for (int32_t stages = columns.stages; stages > 0; stages -= kRingSliceStages) {
      float sum[kFragments][4] = {};
#pragma unroll 1
      for (int i = min(stages, kRingSliceStages); i > 0; --i) {
        take_stage<kFragments>(tokens, token, sum);
      }
      join(sum);
    }
  }

  // A warp alone keeps the totals.
  template <int kFragments>
  __device__ __forceinline__ void run_alone(const RowTile& tile, int32_t row_tile) {
    float total[kFragments][4] = {};
    sum_unit<kFragments>(tile, [&](const float (&sum)[kFragments][4]) {
#pragma unroll
      for (int n = 0; n < kFragments; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) total[n][i] += sum[n][i];
      }
    });
#pragma unroll 1
    for (int n = 0; n < kFragments; ++n) {
      write_sums(problem, tile, row_tile, n * kFragmentTokens, total[0]);
      if constexpr (kFragments > 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i) total[0][i] = total[1][i];
      }
    }
  }

  // Warps that share a row tile park the sums; two of them, others with each unit, join them while
  // the rest begins the next unit.
  __device__ __forceinline__ void run_shared(const RowTile& tile, int32_t row_tile, int32_t slices,
                                             int joiner) {
    const int lane = threadIdx.x;
    ParkedSums* own = shared.parked + columns.first;
    ParkedSums* to = own;
    const auto park = [&](const float (&sum)[1][4]) {
      if (to == own) __syncthreads();  // the last unit's sums are joined
      to->pair[0][lane] = {sum[0][0], sum[0][2]};
      to->pair[1][lane] = {sum[0][1], sum[0][3]};
      ++to;
    };
    if (columns.stages > 0) {
      sum_unit<1>(tile, park);
    } else {
      __syncthreads();
    }
    __syncthreads();
    const int i = static_cast<int>(threadIdx.y) - joiner;
    if (i < 0 || i > 1) return;
    float2 total = {0.0f, 0.0f};
#pragma unroll 4
    for (int32_t s = 0; s < slices; ++s) {
      const float2 sum = shared.parked[s].pair[i][lane];
      total.x += sum.x;
      total.y += sum.y;
    }
    write_pair(problem, tile, row_tile, lane % 4 * 2 + i, total.x, total.y);
  }
};

// Weights are asked for as soon as it is known of which experts: where the maps are settled, before
// the wait. Dynamic shared memory: StreamShared, then ActiveExpert [experts + 1].
template <typename W, bool kShares, typename Problem>
__device__ __forceinline__ void run_stream(const Problem& problem, uint4* memory) {
  auto& shared = *reinterpret_cast<StreamShared<W, kShares>*>(memory);
  ActiveExpert* active = reinterpret_cast<ActiveExpert*>(&shared + 1);
  const uint32_t warp = threadIdx.y;
  if constexpr (W::kIsScaled) {
    const uint32_t scale = warp * dense_kernels::cuda::kWarp + threadIdx.x;
    shared.factor[scale] = dense_kernels::cuda::e8m0_to_bf16x2(scale);
  }
  const bool is_suited = suits_ring<W>(problem);
  const int32_t slices = (problem.columns() + W::kSlice - 1) / W::kSlice;
  const WarpColumns columns = columns_of_warp<W>(problem.columns(), kShares ? warp : 0,
                                                 kShares ? kStreamWarps : 1);
  const bool is_settled = problem.is_settled();
  if (!is_settled) dense_kernels::cuda::wait_and_trigger();
  if (warp == 0) {
    const int32_t actives = list_active_experts<kStreamTokens<kShares>>(
        static_cast<const int32_t*>(problem.p.offsets), problem.p.experts, problem.p.slots, active);
    if (threadIdx.x == 0) shared.actives[0] = actives;
  }
  __syncthreads();
  const UnitList list = {active, shared.actives[0], row_tiles(problem)};
  UnitShare share = all_units(list).part(blockIdx.x, gridDim.x);
  if (!is_suited) {
    if (is_settled) dense_kernels::cuda::wait_and_trigger();
    run_any<W, kStreamTokens<kShares>>(problem, list, share.part(warp, kStreamWarps));
    return;
  }
  if constexpr (!kShares) share = share.part(warp, kStreamWarps);
  UnitWalk walk(list, share);
  const uint32_t ring = kept_address(shared.ring[warp]);
  RingLoader<W, Problem> loader(problem, list, columns, walk, ring);
  if (is_settled) dense_kernels::cuda::wait_and_trigger();
  const uint32_t lane = threadIdx.x;
  StreamWarp<W, kShares, Problem> stream = {
      problem,
      columns,
      shared,
      loader,
      ring + lane * 16,
      ring + RingStage<W>::kScales + lane / 4 * RingStage<W>::kRowScales + lane % 4 / 2,
      kept_address(shared.factor),
      0};
  for (int unit = 0; walk.left > 0; walk.advance(list), ++unit) {
    const RowTile tile = walk.tile_of<kStreamTokens<kShares>>(list);
    if constexpr (kShares) {
      stream.run_shared(tile, walk.row_tile, slices, unit * 2 % kStreamWarps);
    } else if (tile.count <= kFragmentTokens) {
      stream.template run_alone<1>(tile, walk.row_tile);
    } else {
      stream.template run_alone<2>(tile, walk.row_tile);
    }
  }
}

}  // namespace moe_kernels::cuda

#endif
