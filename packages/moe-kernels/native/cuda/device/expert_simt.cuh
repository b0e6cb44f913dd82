// Experts without tensor cores, for every pair of types with fp32 in it. Each result is a sum of
// steps of 32 columns, each one a chain of fused multiply-adds from 0, both ascending: errors stay
// a fraction of those of one long chain. For goldens and tests: right first, coalesced, not tuned.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_SIMT_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_SIMT_CUH

#include <stdint.h>

#include "dense_kernels/cuda/convert.cuh"
#include "dense_kernels/cuda/pdl.cuh"
#include "expert_problems.cuh"
#include "expert_tiles.cuh"
#include "expert_weights.cuh"

namespace moe_kernels::cuda {

constexpr int kSimtThreads = 256;
constexpr int kSimtRowTiles = 4;  // row tiles of a block of weights; the plan knows it
constexpr int kSimtRows = kSimtRowTiles * kRowTile;
constexpr int kSimtTokens = 32;  // rows of a tile
constexpr int kSimtColumns = 32;  // of a step
constexpr int kSimtOwn = 4;       // tokens of a thread
static_assert(kSimtThreads == kSimtRowTiles * kPairs * (kSimtTokens / kSimtOwn));

// One MXFP8 element.
struct E4m3 {
  uint8_t code;
};

// A step's operands; the padding spreads the rows over the banks.
struct SimtStep {
  float w[kSimtRows][kSimtColumns + 1];
  float x[kSimtTokens][kSimtColumns + 1];
};

template <typename W>
__device__ __forceinline__ float widen(const W* weights, const uint8_t*, int64_t index) {
  return dense_kernels::cuda::to_f32(weights[index]);
}

__device__ __forceinline__ float widen(const E4m3* weights, const uint8_t* scales, int64_t index) {
  const float scale = dense_kernels::cuda::e8m0_to_f32(scales[index / kScaleColumns]);
  return dense_kernels::cuda::e4m3_to_f32(weights[index].code) * scale;
}

// Loads columns [column, column + kSimtColumns) of the unit's rows; what does not exist is 0.
template <typename W, typename X, typename Problem>
__device__ __forceinline__ void load_step(const Problem& problem, const Unit& unit, int32_t column,
                                          SimtStep& step) {
  const W* weights = static_cast<const W*>(problem.weights());
  const uint8_t* scales = static_cast<const uint8_t*>(problem.p.scales);
  const X* x = static_cast<const X*>(problem.activations());
  const int64_t columns = problem.columns();
  const int c = threadIdx.x % kSimtColumns;
  const int rows_at_once = kSimtThreads / kSimtColumns;
  const bool exists = column + c < columns;
  const int64_t expert_row = unit.tile.expert * problem.weight_rows();
  for (int r = threadIdx.x / kSimtColumns; r < kSimtRows; r += rows_at_once) {
    const int32_t tile = unit.block * kSimtRowTiles + r / kRowTile;
    const int64_t row = expert_row + problem.weight_row(tile, r % kRowTile);
    step.w[r][c] = exists ? widen(weights, scales, row * columns + column + c) : 0.0f;
  }
  for (int t = threadIdx.x / kSimtColumns; t < kSimtTokens; t += rows_at_once) {
    float value = 0.0f;
    if (exists && t < unit.tile.count) {
      const int64_t row = problem.activation_row(unit.tile.first + t);
      value = dense_kernels::cuda::to_f32(x[row * columns + column + c]);
    }
    step.x[t][c] = value;
  }
}

template <typename W, typename X, typename Problem>
__device__ __forceinline__ void run_simt_unit(const Problem& problem, const Unit& unit,
                                              SimtStep& step) {
  const int pair = threadIdx.x % (kSimtRowTiles * kPairs);
  const int row = pair / kPairs * kRowTile + pair % kPairs;
  const int token = threadIdx.x / (kSimtRowTiles * kPairs) * kSimtOwn;
  float low[kSimtOwn] = {};
  float high[kSimtOwn] = {};
  for (int32_t column = 0; column < problem.columns(); column += kSimtColumns) {
    __syncthreads();  // the last step is used up
    load_step<W, X>(problem, unit, column, step);
    __syncthreads();
    float low_step[kSimtOwn] = {};
    float high_step[kSimtOwn] = {};
#pragma unroll
    for (int c = 0; c < kSimtColumns; ++c) {
#pragma unroll
      for (int i = 0; i < kSimtOwn; ++i) {
        low_step[i] = fmaf(step.w[row][c], step.x[token + i][c], low_step[i]);
        high_step[i] = fmaf(step.w[row + kPairs][c], step.x[token + i][c], high_step[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kSimtOwn; ++i) {
      low[i] += low_step[i];
      high[i] += high_step[i];
    }
  }
  const int32_t outputs = problem.outputs();
  const int32_t first = (unit.block * kSimtRowTiles + pair / kPairs) * Problem::kTileOutputs;
#pragma unroll
  for (int i = 0; i < kSimtOwn; ++i) {
    if (token + i >= unit.tile.count) continue;
    X* y = static_cast<X*>(problem.results()) + int64_t{unit.tile.first + token + i} * outputs;
    problem.finish(pair % kPairs, low[i], high[i], [&](int output, float value) {
      if (first + output < outputs) {
        y[first + output] = dense_kernels::cuda::round_to<X>(value);
      }
    });
  }
}

// Dynamic shared memory: `before` [experts + 1].
template <typename W, typename X, typename Problem>
__device__ __forceinline__ void run_simt(const Problem& problem, int32_t* before) {
  __shared__ SimtStep step;
  dense_kernels::cuda::wait_for_predecessors();
  dense_kernels::cuda::launch_dependents();
  const ExpertTiles tiles = {static_cast<const int32_t*>(problem.p.offsets), before,
                             problem.p.experts, problem.p.slots, kSimtTokens};
  const int32_t blocks = (row_tiles(problem) + kSimtRowTiles - 1) / kSimtRowTiles;
  const int64_t units = int64_t{list_tiles(tiles)} * blocks;
  for (int64_t number = blockIdx.x; number < units; number += gridDim.x) {
    run_simt_unit<W, X>(problem, find_unit(tiles, number, blocks), step);
  }
}

}  // namespace moe_kernels::cuda

#endif
