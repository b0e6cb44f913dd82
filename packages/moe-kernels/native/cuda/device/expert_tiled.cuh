// Experts with many rows each (prefill): tiles of 128 weight rows times 128 rows of activations,
// both through a ring of shared-memory stages of 64 columns that cp.async fills, bf16 tensor cores.
//
// Eight warps, four along the weight rows (two row tiles each) and two along the tokens, whose
// fragments of 8 tokens alternate between them, so that a tile with few rows still feeds both.
// Fragments without rows are skipped. Lanes hold the columns that expert_weights.cuh says; slices
// are joined as it says.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_TILED_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_TILED_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "expert_problems.cuh"
#include "expert_tiles.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kTiledThreads = 256;
constexpr int kTiledRowTiles = 8;  // of a block of weights; the plan knows it
constexpr int kTiledRows = kTiledRowTiles * kRowTile;
constexpr int kTiledTokens = 128;  // rows of a tile
constexpr int kStages = 4;
constexpr int kStageColumns = 64;
constexpr int kTokenChunks = kStageColumns * 2 / 16;    // of 16 bytes in a token's row of a stage
constexpr int kOwnRowTiles = 2;                         // of a warp
constexpr int kOwnFragments = kTiledTokens / 8 / 2;     // of a warp
constexpr int kWarpsAlongRows = kTiledRowTiles / kOwnRowTiles;

template <typename W>
constexpr int kWeightChunks = kStageColumns * W::kElementBytes / 16;

// Stages of a slice.
template <typename W>
constexpr int kSliceStages = W::kSlice / kStageColumns;

template <typename W>
struct TiledStage {
  uint4 weight[kTiledRows * kWeightChunks<W>];
  uint4 token[kTiledTokens * kTokenChunks];
};

// Results of a tile on their way out; the padding keeps 16-byte rows and spreads the banks.
template <typename Problem>
struct TiledResults {
  static constexpr int kOutputs = kTiledRowTiles * Problem::kTileOutputs;
  static constexpr int kPitch = kOutputs + 8;
  dense_kernels::cuda::Bf16 value[kTiledTokens * kPitch];
};

template <typename W, typename Problem>
struct TiledShared {
  union {
    TiledStage<W> stage[kStages];
    TiledResults<Problem> results;
  };
  uint32_t scales[2][kTiledRows][2];  // eight blocks of a slice, two slices
};

// Where chunk c of row r lies: rows of 128 bytes are permuted so that the eight lanes that read
// together (rows r and r + 1, four chunks each) meet eight different bank groups. Chunks of a row
// that one lane reads after another are neighbours for MXFP8 (lane q: 2q, 2q + 1), else they are
// four apart.
template <typename W>
__device__ __forceinline__ int token_chunk(int row, int chunk) {
  const int turn = W::kIsScaled ? row % 8 : (row % 2) * 4 + row / 2 % 4;
  return row * kTokenChunks + (chunk ^ turn);
}

template <typename W>
__device__ __forceinline__ int weight_chunk(int row, int chunk) {
  // Two rows of 64 bytes fill the banks as they are.
  if constexpr (W::kIsScaled) return row * kWeightChunks<W> + chunk;
  return token_chunk<W>(row, chunk);
}

// What a thread copies of every stage: chunk `chunk` of some rows.
template <typename W>
struct TiledRows {
  static constexpr int kWeights = kTiledRows * kWeightChunks<W> / kTiledThreads;
  static constexpr int kTokens = kTiledTokens * kTokenChunks / kTiledThreads;
  const uint8_t* weight[kWeights];
  const uint8_t* token[kTokens];  // null = no such row in the tile
  const uint8_t* scale;           // of weight row `thread / 2`
  int32_t columns;
  bool whole;         // rows of weights and tokens start at multiples of 16 bytes and fill them
  bool scales_whole;  // ScaleRow
};

template <typename W, typename Problem>
__device__ __forceinline__ TiledRows<W> rows_of_thread(const Problem& problem, const Unit& unit) {
  TiledRows<W> rows;
  rows.columns = problem.columns();
  const int64_t weight_bytes = int64_t{rows.columns} * W::kElementBytes;
  const int32_t scale_blocks = rows.columns / kScaleColumns;
  const uint8_t* weights = static_cast<const uint8_t*>(problem.weights());
  const uint8_t* scales = static_cast<const uint8_t*>(problem.p.scales);
  const uint8_t* activations = static_cast<const uint8_t*>(problem.activations());
  const auto weight_row = [&](int r) {
    const int32_t tile = unit.block * kTiledRowTiles + r / kRowTile;
    return unit.tile.expert * problem.weight_rows() + problem.weight_row(tile, r % kRowTile);
  };
#pragma unroll
  for (int i = 0; i < TiledRows<W>::kWeights; ++i) {
    const int r = (threadIdx.x + i * kTiledThreads) / kWeightChunks<W>;
    rows.weight[i] = weights + weight_row(r) * weight_bytes;
  }
#pragma unroll
  for (int i = 0; i < TiledRows<W>::kTokens; ++i) {
    const int token = (threadIdx.x + i * kTiledThreads) / kTokenChunks;
    rows.token[i] = nullptr;
    if (token < unit.tile.count) {
      const int64_t from = problem.activation_row(unit.tile.first + token);
      rows.token[i] = activations + from * rows.columns * 2;
    }
  }
  rows.scale = scales + weight_row(threadIdx.x / 2) * scale_blocks;
  rows.whole = dense_kernels::cuda::is_aligned(weights) && weight_bytes % 16 == 0 &&
               dense_kernels::cuda::is_aligned(activations) && rows.columns % 8 == 0;
  rows.scales_whole = scale_rows_are_whole(scales, scale_blocks);
  return rows;
}

// Copies 16 bytes of a row, zeros behind it (`left` <= 0 bytes) or where there is no row.
__device__ __forceinline__ void copy_chunk(uint4* to, const uint8_t* row, int64_t offset,
                                           int32_t left, bool whole, const void* anywhere) {
  const bool exists = row != nullptr && left > 0;
  if (whole) {
    dense_kernels::cuda::copy16_async(to, exists ? row + offset : anywhere, exists);
  } else {
    *to = exists ? gather16(row + offset, left) : uint4{0, 0, 0, 0};
  }
}

template <typename W>
__device__ __forceinline__ void copy_stage(const TiledRows<W>& rows, int32_t column,
                                           const void* anywhere, TiledStage<W>& stage) {
#pragma unroll
  for (int i = 0; i < TiledRows<W>::kWeights; ++i) {
    const int number = threadIdx.x + i * kTiledThreads;
    const int chunk = number % kWeightChunks<W>;
    const int32_t offset = column * W::kElementBytes + chunk * 16;  // in bytes, as `left`
    const int32_t left = rows.columns * W::kElementBytes - offset;
    uint4* to = &stage.weight[weight_chunk<W>(number / kWeightChunks<W>, chunk)];
    copy_chunk(to, rows.weight[i], offset, left, rows.whole, anywhere);
  }
#pragma unroll
  for (int i = 0; i < TiledRows<W>::kTokens; ++i) {
    const int number = threadIdx.x + i * kTiledThreads;
    const int chunk = number % kTokenChunks;
    const int32_t offset = column * 2 + chunk * 16;
    uint4* to = &stage.token[token_chunk<W>(number / kTokenChunks, chunk)];
    copy_chunk(to, rows.token[i], offset, rows.columns * 2 - offset, rows.whole, anywhere);
  }
}

// This thread's word of the scales of a slice: row thread / 2, blocks 4 (thread % 2) ….
template <typename W>
__device__ __forceinline__ uint32_t load_slice_scales(const TiledRows<W>& rows, int32_t slice) {
  if constexpr (!W::kIsScaled) return 0;
  const ScaleRow scales = {rows.scale, rows.columns / kScaleColumns, rows.scales_whole};
  return load_scales(scales, slice * (W::kSlice / kScaleColumns) + threadIdx.x % 2 * 4);
}

// Sums of a warp: row tile, fragment, the fragment's four.
typedef float TiledSums[kOwnRowTiles][kOwnFragments][4];

// The warp's place in the tile, and its lane's in a fragment.
struct TiledPlace {
  int row;        // its first weight row
  int fragment;   // its first fragment of tokens; the next one is two further
  int fragments;  // those with rows
  int g;
  int q;
};

__device__ __forceinline__ TiledPlace place_of_warp(const RowTile& tile) {
  const int warp = threadIdx.x / dense_kernels::cuda::kWarp;
  const int lane = threadIdx.x % dense_kernels::cuda::kWarp;
  const int first = warp / kWarpsAlongRows;
  const int used = (tile.count + 7) / 8;
  return {warp % kWarpsAlongRows * kOwnRowTiles * kRowTile, first, (used - first + 1) / 2, lane / 4,
          lane % 4};
}

// The lane's fragments of both row tiles in a group of a stage.
template <typename W>
__device__ __forceinline__ void load_fragments(const TiledStage<W>& stage,
                                               const uint32_t (&scales)[kTiledRows][2], int group,
                                               int slice_group, const TiledPlace& at,
                                               uint32_t (&a)[kOwnRowTiles][2][kLaneWords<W>]) {
#pragma unroll
  for (int m = 0; m < kOwnRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = at.row + m * kRowTile + i * kPairs + at.g;
      const uint4 raw = stage.weight[weight_chunk<W>(row, group * 4 + at.q)];
      uint32_t scale = 0;
      if constexpr (W::kIsScaled) {
        scale = scale_of_lane({scales[row][0], scales[row][1]}, slice_group, at.q);
      }
      W::widen(raw, scale, a[m][i]);
    }
  }
}

// The lane's columns of token `row` of the tile in a group.
template <typename W>
__device__ __forceinline__ void load_columns(const TiledStage<W>& stage, int row, int group, int q,
                                             uint32_t (&b)[kLaneWords<W>]) {
  constexpr int kChunks = kLaneWords<W> / 4;  // of a lane
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int chunk = group * (kTokenChunks / (kStageColumns / W::kGroup)) + q * kChunks + i;
    const uint4 raw = stage.token[token_chunk<W>(row, chunk)];
    b[4 * i] = raw.x;
    b[4 * i + 1] = raw.y;
    b[4 * i + 2] = raw.z;
    b[4 * i + 3] = raw.w;
  }
}

// Two fragments at a time: four independent chains keep the tensor cores busy. The second of the
// last pair may have no rows; its operands are zeros.
template <typename W>
__device__ __forceinline__ void multiply_stage(const TiledStage<W>& stage,
                                               const uint32_t (&scales)[kTiledRows][2],
                                               int stage_of_slice, const TiledPlace& at,
                                               TiledSums& sums) {
#pragma unroll
  for (int group = 0; group < kStageColumns / W::kGroup; ++group) {
    uint32_t a[kOwnRowTiles][2][kLaneWords<W>];
    load_fragments<W>(stage, scales, group, stage_of_slice, at, a);
#pragma unroll
    for (int n = 0; n < kOwnFragments; n += 2) {
      if (n >= at.fragments) continue;
      uint32_t b[2][kLaneWords<W>];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int token = (at.fragment + 2 * (n + i)) * 8 + at.g;
        load_columns<W>(stage, token, group, at.q, b[i]);
      }
#pragma unroll
      for (int step = 0; step < kLaneWords<W> / 2; ++step) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const uint32_t columns[2] = {b[i][2 * step], b[i][2 * step + 1]};
#pragma unroll
          for (int m = 0; m < kOwnRowTiles; ++m) {
            const uint32_t rows[4] = {a[m][0][2 * step], a[m][1][2 * step], a[m][0][2 * step + 1],
                                      a[m][1][2 * step + 1]};
            dense_kernels::cuda::mma_bf16(sums[m][n + i], rows, columns);
          }
        }
      }
    }
  }
}

// Joins a finished slice to the totals.
__device__ __forceinline__ void join_slice(TiledSums& totals, TiledSums& sums) {
#pragma unroll
  for (int m = 0; m < kOwnRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kOwnFragments; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        totals[m][n][i] += sums[m][n][i];
        sums[m][n][i] = 0.0f;
      }
    }
  }
}

// Results of a unit from shared memory, each token's 16 bytes at a time, by `threads` threads.
template <typename Problem>
__device__ __forceinline__ void send_results(const Problem& problem, const Unit& unit,
                                             const TiledResults<Problem>& results, int thread,
                                             int threads) {
  using dense_kernels::cuda::Bf16;
  constexpr int kOutputs = TiledResults<Problem>::kOutputs;
  Bf16* y = static_cast<Bf16*>(problem.results());
  const int32_t outputs = problem.outputs();
  const bool whole = dense_kernels::cuda::is_aligned(y) && outputs % 8 == 0;
  const int32_t first = unit.block * kOutputs;
  for (int i = thread; i < unit.tile.count * (kOutputs / 8); i += threads) {
    const int token = i / (kOutputs / 8);
    const int32_t output = first + i % (kOutputs / 8) * 8;
    const Bf16* from = &results.value[token * TiledResults<Problem>::kPitch + output - first];
    Bf16* to = y + int64_t{unit.tile.first + token} * outputs + output;
    if (whole && output + 8 <= outputs) {
      dense_kernels::cuda::store16(to, dense_kernels::cuda::load16(from));
    } else {
      for (int c = 0; c < 8 && output + c < outputs; ++c) to[c] = from[c];
    }
  }
}

// Results go through shared memory.
template <typename Problem>
__device__ __forceinline__ void write_results(const Problem& problem, const Unit& unit,
                                              const TiledPlace& at, const TiledSums& totals,
                                              TiledResults<Problem>& results) {
  using dense_kernels::cuda::Bf16;
  constexpr int kPitch = TiledResults<Problem>::kPitch;
#pragma unroll
  for (int m = 0; m < kOwnRowTiles; ++m) {
    const int first = (at.row / kRowTile + m) * Problem::kTileOutputs;
#pragma unroll
    for (int n = 0; n < kOwnFragments; ++n) {
      if (n >= at.fragments) continue;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int token = (at.fragment + 2 * n) * 8 + 2 * at.q + i;
        problem.finish(at.g, totals[m][n][i], totals[m][n][i + 2], [&](int output, float value) {
          results.value[token * kPitch + first + output] =
              dense_kernels::cuda::round_to<Bf16>(value);
        });
      }
    }
  }
  __syncthreads();
  send_results(problem, unit, results, threadIdx.x, kTiledThreads);
}

// One unit. Stage s is filled while stages s - 3 … s - 1 wait or are multiplied.
template <typename W, typename Problem>
__device__ __forceinline__ void run_tiled_unit(const Problem& problem, const Unit& unit,
                                               TiledShared<W, Problem>& shared) {
  const TiledRows<W> rows = rows_of_thread<W>(problem, unit);
  const TiledPlace at = place_of_warp(unit.tile);
  const void* anywhere = problem.weights();
  const int32_t stages = (rows.columns + kStageColumns - 1) / kStageColumns;
  TiledSums totals = {};
  TiledSums sums = {};
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < stages) copy_stage(rows, s * kStageColumns, anywhere, shared.stage[s]);
    dense_kernels::cuda::commit_copies();
  }
  uint32_t scales = load_slice_scales<W>(rows, 0);
  if constexpr (W::kIsScaled) shared.scales[0][threadIdx.x / 2][threadIdx.x % 2] = scales;
  for (int32_t s = 0; s < stages; ++s) {
    dense_kernels::cuda::wait_copies<kStages - 2>();
    __syncthreads();
    const int32_t slice = s / kSliceStages<W>;
    const int within = s % kSliceStages<W>;
    // The next slice's scales are asked for at the start of a slice and kept one stage later.
    if constexpr (W::kIsScaled) {
      if (within == 0) scales = load_slice_scales<W>(rows, slice + 1);
      if (within == 1) shared.scales[(slice + 1) % 2][threadIdx.x / 2][threadIdx.x % 2] = scales;
    }
    const int32_t ahead = s + kStages - 1;
    if (ahead < stages) {
      copy_stage(rows, ahead * kStageColumns, anywhere, shared.stage[ahead % kStages]);
    }
    dense_kernels::cuda::commit_copies();
    multiply_stage<W>(shared.stage[s % kStages], shared.scales[slice % 2], within, at, sums);
    if (within == kSliceStages<W> - 1 || s == stages - 1) join_slice(totals, sums);
  }
  dense_kernels::cuda::wait_copies<0>();
  __syncthreads();  // the stages become results
  write_results(problem, unit, at, totals, shared.results);
  __syncthreads();  // and stages again
}

// Dynamic shared memory: TiledShared, then `before` [experts + 1]. A block may have more threads.
template <typename W, typename Problem>
__device__ __forceinline__ void run_tiled(const Problem& problem, uint4* memory) {
  auto& shared = *reinterpret_cast<TiledShared<W, Problem>*>(memory);
  int32_t* before = reinterpret_cast<int32_t*>(&shared + 1);
  dense_kernels::cuda::wait_for_predecessors();
  dense_kernels::cuda::launch_dependents();
  const ExpertTiles tiles = {static_cast<const int32_t*>(problem.p.offsets), before,
                             problem.p.experts, problem.p.slots, kTiledTokens};
  const int32_t blocks = (row_tiles(problem) + kTiledRowTiles - 1) / kTiledRowTiles;
  const int64_t units = int64_t{list_tiles(tiles)} * blocks;
  if (threadIdx.x >= kTiledThreads) return;  // barriers wait for those only that are there
  for (int64_t number = blockIdx.x; number < units; number += gridDim.x) {
    run_tiled_unit<W>(problem, find_unit(tiles, number, blocks), shared);
  }
}

}  // namespace moe_kernels::cuda

#endif
