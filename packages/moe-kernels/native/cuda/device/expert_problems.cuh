// The two grouped products of the experts, as the kernels see them: where a weight row and a row of
// activations are, and what becomes of a finished sum.
//
// Weight rows come in row tiles of 16. In the gate and up projection row r of a tile is a gate and
// row r + 8 the up of the same channel, so that one lane of the tensor cores holds both.
#ifndef MOE_KERNELS_CUDA_DEVICE_EXPERT_PROBLEMS_CUH
#define MOE_KERNELS_CUDA_DEVICE_EXPERT_PROBLEMS_CUH

#include <stdint.h>

#include "moe_kernels/experts_down.h"
#include "moe_kernels/experts_gate_up.h"

namespace moe_kernels::cuda {

constexpr int kRowTile = 16;
constexpr int kPairs = 8;  // rows r and r + 8

// The gate has no lower clamp. Comparisons are written so that a NaN survives them.
__device__ __forceinline__ float swiglu(const ExpertsGateUpParams& p, float gate, float up) {
  const float g = gate > p.limit ? p.limit : gate;
  const float capped = up > p.limit ? p.limit : up;
  const float u = capped < -p.limit ? -p.limit : capped;
  return g * (1.0f / (1.0f + expf(-p.alpha * g))) * (u + p.beta);
}

struct GateUp {
  static constexpr int kTileOutputs = 8;  // results of a row tile a token

  const ExpertsGateUpParams& p;

  // Whether the offsets are older than the kernels that still run. The kernel before makes them.
  __device__ __forceinline__ bool is_settled() const { return false; }
  __device__ __forceinline__ int32_t columns() const { return p.hidden; }
  __device__ __forceinline__ int32_t outputs() const { return p.intermediate; }
  __device__ __forceinline__ int64_t weight_rows() const { return 2 * int64_t{p.intermediate}; }
  __device__ __forceinline__ const void* weights() const { return p.w13; }
  __device__ __forceinline__ const void* activations() const { return p.x; }
  __device__ __forceinline__ void* results() const { return p.y; }

  // Row r of a row tile; one behind the last gives the last again.
  __device__ __forceinline__ int64_t weight_row(int32_t tile, int r) const {
    const int32_t channel = min(tile * kPairs + r % kPairs, p.intermediate - 1);
    return r < kPairs ? channel : int64_t{p.intermediate} + channel;
  }

  // The row of activations of a permuted row. What is no pair of this call reads token 0.
  __device__ __forceinline__ int64_t activation_row(int32_t row) const {
    const int32_t pair = static_cast<const int32_t*>(p.rows)[row];
    const bool exists = pair >= 0 && pair < p.slots;
    return exists ? static_cast<uint32_t>(pair) / static_cast<uint32_t>(p.k) : 0;
  }

  // Calls put(output within the tile, value) for the sums of rows r and r + 8.
  template <typename Put>
  __device__ __forceinline__ void finish(int r, float low, float high, Put put) const {
    put(r, swiglu(p, low, high));
  }
};

struct Down {
  static constexpr int kTileOutputs = 16;

  const ExpertsDownParams& p;

  __device__ __forceinline__ bool is_settled() const { return p.settled != 0; }
  __device__ __forceinline__ int32_t columns() const { return p.intermediate; }
  __device__ __forceinline__ int32_t outputs() const { return p.hidden; }
  __device__ __forceinline__ int64_t weight_rows() const { return p.hidden; }
  __device__ __forceinline__ const void* weights() const { return p.w2; }
  __device__ __forceinline__ const void* activations() const { return p.y; }
  __device__ __forceinline__ void* results() const { return p.h2; }

  __device__ __forceinline__ int64_t weight_row(int32_t tile, int r) const {
    return min(tile * kRowTile + r, p.hidden - 1);
  }

  __device__ __forceinline__ int64_t activation_row(int32_t row) const { return row; }

  template <typename Put>
  __device__ __forceinline__ void finish(int r, float low, float high, Put put) const {
    put(r, low);
    put(r + kPairs, high);
  }
};

// Row tiles of a problem.
template <typename Problem>
__device__ __forceinline__ int32_t row_tiles(const Problem& problem) {
  return (problem.outputs() + Problem::kTileOutputs - 1) / Problem::kTileOutputs;
}

}  // namespace moe_kernels::cuda

#endif
