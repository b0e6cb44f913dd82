// Experts with many rows each (prefill) on Hopper: tiles of 128 weight rows times 128 rows of
// activations as in expert_tiled.cuh, which is for devices without products of warpgroups. A warp
// has a row tile, which it widens for the next stage while the products of this one run.
//
// Columns go to steps as expert_weights.cuh says, so that the sums are those of the other kernels.
// To have activations in that order in shared memory, they are copied by two columns at a time.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_WGMMA_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_WGMMA_CUH

#include "dense_kernels/cuda/wgmma.cuh"
#include "expert_tiled.cuh"

namespace moe_kernels::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace dense = dense_kernels::cuda;

constexpr int kGroupTokens = kTiledThreads / dense::kWarp;      // that the warps copy at a time
constexpr int kOwnTokens = kTiledTokens / kGroupTokens;         // of a warp
constexpr int kStageSteps = kStageColumns / 16;

template <typename W, typename Problem>
struct WgmmaShared {
  union {
    struct {
      uint4 token[kStages][kTiledTokens * kTokenChunks];  // from a multiple of 1024 bytes on
      uint4 weight[kStages][kTiledRows * kWeightChunks<W>];
    };
    TiledResults<Problem> results;
  };
  uint32_t scales[2][kTiledRows][2];  // eight blocks of a slice, two slices
};

// What a thread copies of every stage: as TiledRows, but of activations the same two columns of
// every eighth row.
template <typename W>
struct WgmmaRows {
  static constexpr int kWeights = TiledRows<W>::kWeights;
  const uint8_t* weight[kWeights];
  const uint8_t* scale;
  const uint8_t* activations;
  int32_t token[kOwnTokens];  // rows of activations; -1 = no such row in the tile
  int32_t columns;
  int32_t place;      // of the two columns in a stage
  bool whole;         // of weights: 16 bytes at once
  bool tokens_whole;  // of activations: 4 bytes at once
  bool scales_whole;
};

// The chunk of a row that the two columns `word` of a stage go to, and their place in it.
template <typename W>
__device__ __forceinline__ int place_of_word(int row, int word) {
  const int chunk = W::kIsScaled ? word % 8 : word / 16 * 4 + word % 4;
  const int place = W::kIsScaled ? word / 8 : word % 16 / 4;
  return dense::wgmma_chunk(row, chunk) + place * 4;
}

template <typename W, typename Problem>
__device__ __forceinline__ WgmmaRows<W> wgmma_rows_of_thread(const Problem& problem,
                                                             const Unit& unit) {
  const TiledRows<W> tiled = rows_of_thread<W>(problem, unit);
  WgmmaRows<W> rows;
#pragma unroll
  for (int i = 0; i < WgmmaRows<W>::kWeights; ++i) rows.weight[i] = tiled.weight[i];
  rows.scale = tiled.scale;
  rows.scales_whole = tiled.scales_whole;
  rows.whole = tiled.whole;
  rows.columns = tiled.columns;
  rows.activations = static_cast<const uint8_t*>(problem.activations());
  rows.tokens_whole = dense::is_aligned(rows.activations, 4) && rows.columns % 2 == 0;
  const int warp = threadIdx.x / dense::kWarp;
#pragma unroll
  for (int i = 0; i < kOwnTokens; ++i) {
    const int token = i * kGroupTokens + warp;
    rows.token[i] = token < unit.tile.count
                        ? static_cast<int32_t>(problem.activation_row(unit.tile.first + token))
                        : -1;
  }
  rows.place = place_of_word<W>(warp, threadIdx.x % dense::kWarp);
  return rows;
}

// Two columns of a row; those behind `columns` are zeros.
__device__ __forceinline__ void copy_word(char* to, const uint8_t* row, int32_t column,
                                          int32_t columns, bool whole, const void* anywhere) {
  const bool exists = row != nullptr && column < columns;
  if (whole) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(dense::shared_address(to)), "l"(exists ? row + column * 2 : anywhere),
                   "r"(exists ? 4 : 0)
                 : "memory");
    return;
  }
  uint32_t word = 0;
  const uint16_t* from = reinterpret_cast<const uint16_t*>(row) + column;
  if (exists) word = from[0];
  if (exists && column + 1 < columns) word |= uint32_t{from[1]} << 16;
  *reinterpret_cast<uint32_t*>(to) = word;
}

template <typename W, typename Problem>
__device__ __forceinline__ void copy_wgmma_stage(const WgmmaRows<W>& rows, int32_t stage,
                                                 const void* anywhere,
                                                 WgmmaShared<W, Problem>& shared) {
  const int32_t first = stage * kStageColumns;
#pragma unroll
  for (int i = 0; i < WgmmaRows<W>::kWeights; ++i) {
    const int number = threadIdx.x + i * kTiledThreads;
    const int chunk = number % kWeightChunks<W>;
    const int32_t offset = first * W::kElementBytes + chunk * 16;  // in bytes, as `left`
    const int32_t left = rows.columns * W::kElementBytes - offset;
    uint4* to = &shared.weight[stage % kStages][weight_chunk<W>(number / kWeightChunks<W>, chunk)];
    copy_chunk(to, rows.weight[i], offset, left, rows.whole, anywhere);
  }
  const int32_t column = first + threadIdx.x % dense::kWarp * 2;
  char* to = reinterpret_cast<char*>(shared.token[stage % kStages]) + rows.place;
#pragma unroll
  for (int i = 0; i < kOwnTokens; ++i) {
    const uint8_t* row =
        rows.token[i] < 0 ? nullptr
                          : rows.activations + int64_t{rows.token[i]} * rows.columns * 2;
    copy_word(to + i * kGroupTokens * dense::kWgmmaRowBytes, row, column, rows.columns,
              rows.tokens_whole, anywhere);
  }
}

template <typename W>
__device__ __forceinline__ uint32_t load_slice_scales(const WgmmaRows<W>& rows, int32_t slice) {
  if constexpr (!W::kIsScaled) return 0;
  const ScaleRow scales = {rows.scale, rows.columns / kScaleColumns, rows.scales_whole};
  return load_scales(scales, slice * (W::kSlice / kScaleColumns) + threadIdx.x % 2 * 4);
}

// The warp's row tile of a stage as the products take it.
template <typename W, typename Problem>
__device__ __forceinline__ void widen_stage(uint32_t (&a)[4 * kStageSteps], int32_t stage,
                                            const WgmmaShared<W, Problem>& shared) {
  constexpr int kStepsOfGroup = kLaneWords<W> / 2;
  const int lane = threadIdx.x % dense::kWarp;
  const int slice = stage / kSliceStages<W>;
#pragma unroll
  for (int group = 0; group < kStageColumns / W::kGroup; ++group) {
    uint32_t rows[2][kLaneWords<W>];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = threadIdx.x / dense::kWarp * kRowTile + i * kPairs + lane / 4;
      const int chunk = weight_chunk<W>(row, group * 4 + lane % 4);
      const uint32_t(&scales)[2] = shared.scales[slice % 2][row];
      uint32_t scale = 0;
      if constexpr (W::kIsScaled) {
        scale = scale_of_lane({scales[0], scales[1]}, stage % kSliceStages<W>, lane % 4);
      }
      W::widen(shared.weight[stage % kStages][chunk], scale, rows[i]);
    }
#pragma unroll
    for (int step = 0; step < kStepsOfGroup; ++step) {
      uint32_t* to = a + 4 * (group * kStepsOfGroup + step);
      to[0] = rows[0][2 * step];
      to[1] = rows[1][2 * step];
      to[2] = rows[0][2 * step + 1];
      to[3] = rows[1][2 * step + 1];
    }
  }
}

// Scales of the next slice: asked for in its predecessor's first stage, kept in the second one.
template <typename W, typename Problem>
__device__ __forceinline__ void pass_scales(const WgmmaRows<W>& rows, int32_t stage,
                                            uint32_t& asked, WgmmaShared<W, Problem>& shared) {
  if constexpr (W::kIsScaled) {
    const int32_t slice = stage / kSliceStages<W>;
    const int within = stage % kSliceStages<W>;
    if (within == 0) asked = load_slice_scales<W>(rows, slice + 1);
    if (within == 1) {
      shared.scales[(slice + 1) % 2][threadIdx.x / 2][threadIdx.x % 2] = asked;
    }
  }
}

// A stage for the first kTokens rows of the tile.
template <int kTokens>
__device__ __forceinline__ void multiply_steps(float (&sums)[dense::kWgmmaSums],
                                               const uint32_t (&a)[4 * kStageSteps],
                                               uint64_t tokens, int within) {
#pragma unroll
  for (int step = 0; step < kStageSteps; ++step) {
    dense::wgmma<kTokens>(sums, a + 4 * step, tokens + 2 * step, within + step);
  }
}

// Sums of the warp's row tile for all `count` rows of the unit.
template <typename W, typename Problem>
__device__ __forceinline__ void sum_wgmma_unit(float (&totals)[dense::kWgmmaSums],
                                               const WgmmaRows<W>& rows, int32_t count,
                                               const void* anywhere,
                                               WgmmaShared<W, Problem>& shared) {
  const int32_t stages = (rows.columns + kStageColumns - 1) / kStageColumns;
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < stages) copy_wgmma_stage(rows, s, anywhere, shared);
    dense::commit_copies();
  }
  uint32_t scales = load_slice_scales<W>(rows, 0);
  if constexpr (W::kIsScaled) shared.scales[0][threadIdx.x / 2][threadIdx.x % 2] = scales;
  float sums[dense::kWgmmaSums] = {};
  uint32_t a[4 * kStageSteps];
  dense::wait_copies<kStages - 2>();
  dense::wgmma_sees_copies();
  __syncthreads();
  widen_stage(a, 0, shared);
#pragma unroll 1
  for (int32_t s = 0; s < stages; ++s) {
    const int within = s % kSliceStages<W>;
    const uint64_t tokens = dense::wgmma_rows(shared.token[s % kStages]);
    dense::hold(sums);
    dense::hold(a);
    dense::wgmma_begin();
    if (count <= 32) {
      multiply_steps<32>(sums, a, tokens, within);
    } else if (count <= 64) {
      multiply_steps<64>(sums, a, tokens, within);
    } else {
      multiply_steps<kTiledTokens>(sums, a, tokens, within);
    }
    dense::wgmma_commit();
    uint32_t next[4 * kStageSteps] = {};
    if (s + 1 < stages) {
      pass_scales(rows, s, scales, shared);
      dense::wait_copies<kStages - 3>();
      dense::wgmma_sees_copies();
      __syncthreads();  // everybody has the stage, and is done with the one before this
      const int32_t ahead = s + kStages - 1;
      if (ahead < stages) copy_wgmma_stage(rows, ahead, anywhere, shared);
      dense::commit_copies();
      widen_stage(next, s + 1, shared);
    }
    dense::wgmma_wait();
    dense::hold(sums);
    dense::hold(a);
    if (within == kSliceStages<W> - 1 || s == stages - 1) {
#pragma unroll
      for (int i = 0; i < dense::kWgmmaSums; ++i) totals[i] += sums[i];
    }
#pragma unroll
    for (int i = 0; i < 4 * kStageSteps; ++i) a[i] = next[i];
  }
}

// Results go through shared memory, so that each token's are written 16 bytes at a time.
template <typename Problem>
__device__ __forceinline__ void keep_results(const Problem& problem,
                                             const float (&totals)[dense::kWgmmaSums],
                                             TiledResults<Problem>& results) {
  const int lane = threadIdx.x % dense::kWarp;
  const int first = threadIdx.x / dense::kWarp * Problem::kTileOutputs;
#pragma unroll
  for (int n = 0; n < kTiledTokens / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int token = n * 8 + lane % 4 * 2 + i;
      problem.finish(lane / 4, totals[4 * n + i], totals[4 * n + i + 2],
                     [&](int output, float value) {
                       results.value[token * TiledResults<Problem>::kPitch + first + output] =
                           dense::round_to<dense::Bf16>(value);
                     });
    }
  }
  __syncthreads();
}

template <typename W, typename Problem>
__device__ __forceinline__ void run_wgmma_unit(const Problem& problem, const Unit& unit,
                                               WgmmaShared<W, Problem>& shared) {
  const WgmmaRows<W> rows = wgmma_rows_of_thread<W>(problem, unit);
  float totals[dense::kWgmmaSums] = {};
  sum_wgmma_unit(totals, rows, unit.tile.count, problem.weights(), shared);
  dense::wait_copies<0>();
  __syncthreads();  // the stages become results
  keep_results(problem, totals, shared.results);
  write_results(problem, unit, shared.results);
  __syncthreads();  // and stages again
}

// Dynamic shared memory: WgmmaShared from a multiple of 1024 bytes on, then `before` [experts + 1].
template <typename W, typename Problem>
__device__ __forceinline__ void run_wgmma(const Problem& problem, char* memory) {
  char* aligned = memory + (-dense::shared_address(memory) & (dense::kWgmmaAlign - 1));
  auto& shared = *reinterpret_cast<WgmmaShared<W, Problem>*>(aligned);
  int32_t* before = reinterpret_cast<int32_t*>(&shared + 1);
  run_tiles<kTiledTokens>(problem, before, [&](const Unit& unit) {
    run_wgmma_unit<W>(problem, unit, shared);
  });
}

#else

// The plan never takes this where there are no such products.
template <typename W, typename Problem>
__device__ __forceinline__ void run_wgmma(const Problem&, char*) {
  asm volatile("trap;");
}

#endif

}  // namespace moe_kernels::cuda

#endif
