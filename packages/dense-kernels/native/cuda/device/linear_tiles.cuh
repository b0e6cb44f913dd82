// A linear for many tokens: bf16 x on tensor cores. A block of 8 warps has kRows outputs of
// kTokens tokens; weights and x come by cp.async through a ring of stages in shared memory, one
// unit of 64 columns a stage. MXFP8 codes are widened between shared memory and the tensor cores,
// by the two warps that need them.
//
// A stage holds planes of rows of 64 bytes, so that the 16 bytes that each lane reads of eight
// neighbouring rows lie in one piece of 512 bytes, without bank conflicts:
//   bf16 weights  plane h, row r, chunk q: columns 32h + 8q …
//   mxfp8 codes   one plane,       chunk q: columns 16q …
//   x             plane h, row t, chunk q: columns x_column(h, q) …
#ifndef DENSE_KERNELS_CUDA_LINEAR_TILES_CUH
#define DENSE_KERNELS_CUDA_LINEAR_TILES_CUH

#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/linear.h"
#include "linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpsOfRows = 4;
constexpr int kWarpsOfTokens = 2;
constexpr int kPlaneRow = 64;  // bytes

// Sizes that follow from the data type of the weights and the tile.
template <typename Weight_, int kRows_, int kTokens_, int kStages_>
struct Tile {
  using Weight = Weight_;
  static constexpr int kRows = kRows_;
  static constexpr int kTokens = kTokens_;
  static constexpr int kStages = kStages_;
  static constexpr int kWeightPlanes = sizeof(typename Weight::Element);
  static constexpr int kWeightBytes = kRows * kPlaneRow * kWeightPlanes;
  static constexpr int kStageBytes = kWeightBytes + kTokens * kPlaneRow * 2;
  static constexpr int kRowTiles = kRows / kWarpsOfRows / kRowTile;        // of a warp
  static constexpr int kTokenTiles = kTokens / kWarpsOfTokens / kTokenTile;  // of a warp
  static constexpr int kPitch = kRows + 4;  // floats of a token in the result, no bank conflicts
  static_assert(kTokens * kPitch * 4 <= kStages * kStageBytes, "the result uses the stages again");
};

// What a block works on.
struct BlockJob {
  int first_output;
  int64_t first_token;
  int units;
};

// Copies one unit of weights into a stage; columns behind the row are zeros, rows behind the last
// are the last one.
template <typename T>
__device__ __forceinline__ void copy_weights(const LinearParams& p, const BlockJob& job, int unit,
                                             char* stage) {
  using Element = typename T::Weight::Element;
  constexpr int kPerChunk = 16 / sizeof(Element);
  constexpr int kChunks = kUnit / kPerChunk;  // of a row of weights: 8 bf16, 4 mxfp8
#pragma unroll
  for (int i = 0; i < T::kRows * kChunks / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x;
    const int row = at / kChunks;
    const int chunk = at % kChunks;
    const int64_t output = min(job.first_output + row, p.out - 1);
    const int column = unit * kUnit + chunk * kPerChunk;
    const Element* from = static_cast<const Element*>(p.weight) + output * p.in;
    const bool exists = column < p.in;
    copy16_async(stage + (chunk / 4 * T::kRows + row) * kPlaneRow + chunk % 4 * 16,
                 from + (exists ? column : 0), exists);
  }
}

// The same for x; tokens behind the last are zeros.
template <typename T>
__device__ __forceinline__ void copy_x(const LinearParams& p, const BlockJob& job, int unit,
                                       char* x_stage) {
#pragma unroll
  for (int i = 0; i < T::kTokens * 8 / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x;
    const int row = at / 8;
    const int chunk = at % 8;  // columns 8 chunk …
    const int plane = T::kWeightPlanes == 2 ? chunk / 4 : chunk % 2;
    const int q = T::kWeightPlanes == 2 ? chunk % 4 : chunk / 2;
    const int64_t token = job.first_token + row;
    const int column = unit * kUnit + chunk * 8;
    const bool exists = token < p.tokens && column < p.in;
    const Bf16* x = static_cast<const Bf16*>(p.x);
    copy16_async(x_stage + (plane * T::kTokens + row) * kPlaneRow + q * 16,
                 exists ? x + token * p.x_stride + column : x, exists);
  }
}

template <typename T>
__device__ __forceinline__ void copy_stage(const LinearParams& p, const BlockJob& job, int unit,
                                           char* stage) {
  copy_weights<T>(p, job, unit, stage);
  copy_x<T>(p, job, unit, stage + T::kWeightBytes);
}

// The scales that a lane needs for one unit: rows g and g + 8 of each of its row tiles.
template <typename T>
struct Scales {
  uint32_t value[T::kRowTiles][2];

  __device__ __forceinline__ void load(const LinearParams& p, int first_row, int unit, int q) {
    if constexpr (T::kWeightPlanes == 1) {
#pragma unroll
      for (int tile = 0; tile < T::kRowTiles; ++tile) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = min(first_row + tile * kRowTile + half * 8, p.out - 1);
          value[tile][half] = RowUnit<Mxfp8Weight>::scale_of(p, row, unit, q);
        }
      }
    }
  }
};

// The lane's part of a row of weights of a stage.
template <typename T>
__device__ __forceinline__ RowUnit<typename T::Weight> read_row(const char* stage, int row, int q,
                                                                uint32_t scale) {
  const char* from = stage + row * kPlaneRow + q * 16;
  if constexpr (T::kWeightPlanes == 2) {
    return {{load16(from), load16(from + T::kRows * kPlaneRow)}};
  } else {
    return {load16(from), scale};
  }
}

template <typename T>
using Sums = float[T::kRowTiles][T::kTokenTiles][4];

// Adds the products of one stage to the warp's sums.
template <typename T>
__device__ __forceinline__ void multiply_stage(Sums<T>& sums, const char* stage,
                                               const Scales<T>& scales) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int first_row = warp_id() / kWarpsOfTokens * (T::kRowTiles * kRowTile) + g;
  const int first_token = warp_id() % kWarpsOfTokens * (T::kTokenTiles * kTokenTile) + g;
  uint4 x[T::kTokenTiles][2];
#pragma unroll
  for (int tile = 0; tile < T::kTokenTiles; ++tile) {
#pragma unroll
    for (int plane = 0; plane < 2; ++plane) {
      const int row = plane * T::kTokens + first_token + tile * kTokenTile;
      x[tile][plane] = load16(stage + T::kWeightBytes + row * kPlaneRow + q * 16);
    }
  }
#pragma unroll
  for (int tile = 0; tile < T::kRowTiles; ++tile) {
    const int row = first_row + tile * kRowTile;
    const auto top = read_row<T>(stage, row, q, scales.value[tile][0]);
    const auto bottom = read_row<T>(stage, row + 8, q, scales.value[tile][1]);
    multiply_unit<typename T::Weight, T::kTokenTiles>(sums[tile], top, bottom, x);
  }
}

template <typename T>
__device__ __forceinline__ void close_slice(Sums<T>& total, Sums<T>& slice) {
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
#pragma unroll
    for (int t = 0; t < T::kTokenTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        total[r][t][i] += slice[r][t][i];
        slice[r][t][i] = 0.0f;
      }
    }
  }
}

// Sums to shared memory, [token][output].
template <typename T>
__device__ __forceinline__ void spread_sums(const Sums<T>& total, float* result) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int first_row = warp_id() / kWarpsOfTokens * (T::kRowTiles * kRowTile) + g;
  const int first_token = warp_id() % kWarpsOfTokens * (T::kTokenTiles * kTokenTile) + 2 * q;
#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
#pragma unroll
    for (int t = 0; t < T::kTokenTiles; ++t) {
      float* to = result + (first_token + t * kTokenTile) * T::kPitch + first_row + r * kRowTile;
      to[0] = total[r][t][0];
      to[T::kPitch] = total[r][t][1];
      to[8] = total[r][t][2];
      to[T::kPitch + 8] = total[r][t][3];
    }
  }
}

// From shared memory to y, rounded once; 16 bytes a thread where y allows it.
template <typename T, typename Y>
__device__ __forceinline__ void write_result(const LinearParams& p, const BlockJob& job,
                                             const float* result) {
  constexpr int kPacks = T::kRows / kPack<Y>;  // of a token
  Y* y = static_cast<Y*>(p.y);
  const bool aligned = rows_are_aligned(y, p.y_stride);
  for (int i = threadIdx.x; i < T::kTokens * kPacks; i += kThreads) {
    const int row = i / kPacks;
    const int column = i % kPacks * kPack<Y>;
    const int left = p.out - job.first_output - column;
    if (job.first_token + row >= p.tokens || left <= 0) continue;
    Pack<Y> pack;
#pragma unroll
    for (int k = 0; k < kPack<Y>; ++k) pack.value[k] = result[row * T::kPitch + column + k];
    store_pack(y + (job.first_token + row) * p.y_stride + job.first_output + column, pack, aligned,
               left);
  }
}

// Grid: outputs / kRows, tokens / kTokens.
template <typename T, typename Y>
__device__ __forceinline__ void tile_linear(const LinearParams& p) {
  extern __shared__ __align__(128) char stages[];
  const BlockJob job{static_cast<int>(blockIdx.x) * T::kRows, int64_t{blockIdx.y} * T::kTokens,
                     (p.in + kUnit - 1) / kUnit};
  const int q = lane_id() % 4;
  const int first_row = job.first_output + lane_id() / 4 +
                        warp_id() / kWarpsOfTokens * (T::kRowTiles * kRowTile);
  const int units_of_slice = p.slice / kUnit;
  Sums<T> total = {};
  Sums<T> slice = {};
  Scales<T> scales;
  Scales<T> next_scales;
  next_scales.load(p, first_row, 0, q);
  for (int stage = 0; stage < T::kStages - 1; ++stage) {
    if (stage < job.units) copy_stage<T>(p, job, stage, stages + stage * T::kStageBytes);
    commit_copies();  // empty groups keep the count right
  }
  int to_slice_end = units_of_slice;
  for (int unit = 0; unit < job.units; ++unit) {
    scales = next_scales;
    if (unit + 1 < job.units) next_scales.load(p, first_row, unit + 1, q);
    wait_copies<T::kStages - 2>();  // this thread's part of `unit` has arrived
    __syncthreads();  // everybody's part; and everybody is done with the stage that is filled now
    const int ahead = unit + T::kStages - 1;
    if (ahead < job.units) {
      copy_stage<T>(p, job, ahead, stages + ahead % T::kStages * T::kStageBytes);
    }
    commit_copies();
    multiply_stage<T>(slice, stages + unit % T::kStages * T::kStageBytes, scales);
    if (--to_slice_end == 0) {
      close_slice<T>(total, slice);
      to_slice_end = units_of_slice;
    }
  }
  if (to_slice_end != units_of_slice) close_slice<T>(total, slice);
  wait_copies<0>();
  __syncthreads();  // the stages are free
  float* result = reinterpret_cast<float*>(stages);
  spread_sums<T>(total, result);
  __syncthreads();
  write_result<T, Y>(p, job, result);
}

// 64 outputs x 64 tokens, and 128 x 128; the plan knows the stages' bytes.
template <typename Weight>
using Narrow = Tile<Weight, 64, 64, 4>;
template <typename Weight>
using Wide = Tile<Weight, 128, 128, 4>;

}  // namespace
}  // namespace dense_kernels::cuda

#endif
