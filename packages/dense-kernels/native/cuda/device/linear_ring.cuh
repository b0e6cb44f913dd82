// What the warp of a `_stream` linear reads, on its way through shared memory: a ring of stages,
// one unit of 64 columns of 16 weight rows and of the block's rows of x each, filled by cp.async. A
// lane reads back the very weights that it asked for; x and scales pass between lanes.
//
//   stage    weights: [row g, g + 8][part][lane] 16 bytes; x: [token][8 chunks of 8 columns]
//   scales   [16 rows] two sectors, the blocks of 16 units each, used in turn; from an even unit on
//
// Chunks of x are swapped for odd tokens, so that eight lanes, which read half of two rows, read
// all banks.
#ifndef DENSE_KERNELS_CUDA_LINEAR_RING_CUH
#define DENSE_KERNELS_CUDA_LINEAR_RING_CUH

#include <stdint.h>

#include "dense_kernels/cuda/reduce.cuh"
#include "linear_copies.cuh"
#include "linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kXRowBytes = kUnit * 2;
constexpr int kScaleUnits = 16;      // of a sector
constexpr int kScaleSector = 2 * kScaleUnits;
constexpr int kScalePitch = 2 * kScaleSector + 4;  // 4 against bank conflicts

// A variant: how many tokens a block has and how many units are on their way to a warp. The plan
// knows these numbers too.
template <typename Weight_, int kTokens_, int kStages_>
struct Stream {
  using Weight = Weight_;
  static constexpr int kTokens = kTokens_;
  static constexpr int kStages = kStages_;
  static constexpr int kTiles = (kTokens + kTokenTile - 1) / kTokenTile;
  static constexpr int kParts = sizeof(typename Weight::Element);  // of 16 bytes: a row's for a lane
  static constexpr bool kIsScaled = kParts == 1;
  static constexpr int kUnitBytes = kUnit * kParts;                // of a row
  static constexpr int kWeightBytes = kRowTile * kUnitBytes;       // of a stage
  static constexpr int kScaleBytes = kIsScaled ? kRowTile * kScalePitch : 0;
  static constexpr int kOddTokens = kIsScaled ? 1 : 4;  // which chunks of x these swap
};

// What a warp works on.
struct WarpJob {
  int first_output;
  int first_token;
  int tokens;      // of the block
  int begin, end;  // units

  // Lane's weight rows; those behind the last are the last.
  __device__ __forceinline__ int row(const LinearParams& p, int r) const {
    return min(first_output + r, p.out - 1);
  }
};

// The scales of 16 units from an even one, `begin` or the one before it, on, zeros behind the row:
// lane i copies half of row i / 2. A function of its own, because a warp seldom comes to a third
// sector.
__device__ __noinline__ void copy_scales(const LinearParams& p, int first_output, int begin,
                                         char* sectors, int sector) {
  const int blocks = p.in / 32;
  const int half = lane_id() % 2 * (kScaleSector / 2);
  const int row = min(first_output + lane_id() / 2, p.out - 1);
  const int left = blocks - begin / 2 * 4 - sector * kScaleSector - half;
  const uint8_t* from = static_cast<const uint8_t*>(p.scales) + (int64_t{row} + 1) * blocks - left;
  char* to = sectors + lane_id() / 2 * kScalePitch + sector % 2 * kScaleSector + half;
  if (blocks % 4 == 0 && is_aligned(p.scales, 4)) {
#pragma unroll
    for (int i = 0; i < kScaleSector / 2; i += 4) {
      if (i < left) {
        copy4_async(to + i, from + i);
      } else {
        *reinterpret_cast<uint32_t*>(to + i) = 0;
      }
    }
  } else {
#pragma unroll 4
    for (int i = 0; i < kScaleSector / 2; ++i) to[i] = i < left ? static_cast<char>(from[i]) : 0;
  }
}

template <typename S>
struct Loader {
  const WarpJob& job;
  int64_t below;                // bytes from row g to row g + 8
  const char* weight;           // the lane's in unit 0
  const char* x;                // the lane's in unit 0
  int x_ahead;                  // the lane's unit of those that copy_first_x copies at once
  int x_step;                   // how many these are
  int64_t four_tokens;          // bytes of x
  int weight_units[S::kParts];  // behind these the lane's columns are zeros
  int x_units;
  int x_left;                   // tokens from the lane's on, 0 if another lane has it
  int weights_to;               // in a stage
  int x_to;
  uint64_t policy;

  __device__ __forceinline__ Loader(const LinearParams& p, const WarpJob& a_job)
      : job(a_job), policy(read_once()) {
    const int g = lane_id() / 4;
    const int q = lane_id() % 4;
    const int64_t row_bytes = int64_t{p.in} * S::kParts;
    below = (job.row(p, g + 8) - job.row(p, g)) * row_bytes;
    weight = static_cast<const char*>(p.weight) + job.row(p, g) * row_bytes + 16 * q;
#pragma unroll
    for (int part = 0; part < S::kParts; ++part) {
      weight_units[part] = units_with(p, 16 / S::kParts * q + 32 * part);
      keep(weight_units[part]);
    }
    weights_to = lane_id() * 16;
    const int chunk = lane_id() % 8;
    x_step = job.tokens <= 2 ? 4 / job.tokens : 1;
    x_ahead = job.tokens <= 2 ? lane_id() / 8 / job.tokens : 0;
    const int token = lane_id() / 8 - x_ahead * job.tokens;
    x = static_cast<const char*>(p.x) + ((job.first_token + token) * p.x_stride + 8 * chunk) * 2;
    four_tokens = p.x_stride * 8;
    x_units = units_with(p, 8 * chunk);
    x_left = x_ahead > 0 ? 0 : job.tokens - token;
    x_to = S::kWeightBytes + token * kXRowBytes + (chunk ^ token % 2 * S::kOddTokens) * 16;
    keep(weight);
    keep(x);
    keep(weights_to);
    keep(x_to);
    keep(x_units);
    keep(x_left);
  }

  __device__ __forceinline__ void copy_weights(char* stage, int unit) const {
#pragma unroll
    for (int part = 0; part < S::kParts; ++part) {
      const char* from = weight + int64_t{unit} * S::kUnitBytes + 64 * part;
      char* top = stage + weights_to + part * kWarp * 16;
      char* bottom = top + S::kParts * kWarp * 16;
      if (unit < weight_units[part]) {
        copy16_once(top, from, policy);
        copy16_once(bottom, from + below, policy);
      } else {
        store16(top, uint4{});
        store16(bottom, uint4{});
      }
    }
  }

  // The x of the first `units` stages. Several units at once if few tokens leave lanes over: all
  // that follows waits for this.
  __device__ __forceinline__ void copy_first_x(char* stage, int stage_bytes, int units) const {
    const char* from = x + int64_t{job.begin + x_ahead} * kXRowBytes;
    char* to = stage + x_ahead * stage_bytes + x_to;
    const int exist = x_units - job.begin;
#pragma unroll 1
    for (int unit = x_ahead; unit < units; unit += x_step) {
#pragma unroll
      for (int i = 0; i < S::kTokens / 4; ++i) {
        if (4 * i >= x_left && (i > 0 || x_ahead == 0)) continue;
        if (unit < exist) {
          copy16_async(to + 4 * i * kXRowBytes, from + i * four_tokens);
        } else {
          store16(to + 4 * i * kXRowBytes, uint4{});
        }
      }
      from += x_step * kXRowBytes;
      to += x_step * stage_bytes;
    }
  }

  __device__ __forceinline__ void copy_x(char* stage, int unit) const {
    const char* from = x + int64_t{unit} * kXRowBytes;
#pragma unroll
    for (int i = 0; i < S::kTokens / 4; ++i) {
      if (4 * i >= x_left) continue;
      char* to = stage + x_to + 4 * i * kXRowBytes;
      if (unit < x_units) {
        copy16_async(to, from + i * four_tokens);
      } else {
        store16(to, uint4{});
      }
    }
  }
};

}  // namespace
}  // namespace dense_kernels::cuda

#endif
