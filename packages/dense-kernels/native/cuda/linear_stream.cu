// linear on CUDA for few tokens: bf16 x on tensor cores, weights streamed from memory once per 4, 8
// or 16 tokens. A block has 16 outputs and a warp for each slice of the row; a warp goes through
// its slice alone, a unit of 64 columns at a time out of its ring (linear_ring.cuh), and the slices
// meet in shared memory at the end. Bound by reading the weights; the first stages are asked for
// before the predecessors are waited for. The code is short, because every kernel of a decode step
// is fetched anew: one unit an iteration, and what special weights need is a function of its own.
//
// linear_tile.cu has many tokens, linear.cu any alignment, linear_fma.cu f32 weights or f32 x.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/linear.h"
#include "device/linear_ring.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kMostSlices = 8;
constexpr int kTokenPitch = 20;  // floats of a token's 16 sums, without bank conflicts

// A lane's weights of a unit, out of its ring.
template <typename S>
struct UnitWeights {
  uint4 row[2][S::kParts];  // rows g and g + 8
  uint32_t factor[2];

  __device__ __forceinline__ void load(const char* own) {
#pragma unroll
    for (int i = 0; i < 2 * S::kParts; ++i) {
      row[i / S::kParts][i % S::kParts] = load16(own + i * kWarp * 16);
    }
  }

  __device__ __forceinline__ void words(int half, int step, uint32_t& low, uint32_t& high) const {
    if constexpr (S::kIsScaled) {
      e4m3x4_to_bf16_by(word_of(row[half][0], step), factor[half], low, high);
    } else {
      low = word_of(row[half][step / 2], step % 2 * 2);
      high = word_of(row[half][step / 2], step % 2 * 2 + 1);
    }
  }
};

// The slice again, for weights of any kind and 8 tokens, from memory.
template <typename Weight>
__device__ __noinline__ float4 sum_special(const LinearParams& p, const WarpJob& job, int tile) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int token = job.first_token + tile * kTokenTile + g;
  const Bf16* row = static_cast<const Bf16*>(p.x) + token * p.x_stride;
  float acc[4] = {};
#pragma unroll 1
  for (int unit = job.begin; unit < job.end; ++unit) {
    RowUnit<Weight> top, bottom;
    top.template stream<true>(p, job.row(p, g), unit, q);
    bottom.template stream<true>(p, job.row(p, g + 8), unit, q);
    uint4 x[2];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int column = unit * kUnit + x_column<Weight>(part, q);
      x[part] = load_columns<true>(row, column, token < p.tokens ? p.in : 0);
    }
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      uint32_t a[4];
      top.template words<true>(step, a[0], a[2]);
      bottom.template words<true>(step, a[1], a[3]);
      const uint4& part = step < 2 ? x[0] : x[1];
      const uint32_t b[2] = {word_of(part, step % 2 * 2), word_of(part, step % 2 * 2 + 1)};
      mma_bf16(acc, a, b);
    }
  }
  return {acc[0], acc[1], acc[2], acc[3]};
}

template <typename S>
using Sums = float[S::kTiles][4];

// Where a lane's 16 bytes of x lie in a stage; part 1 is where the chunk's number differs in one
// bit. Tokens that do not exist are the last one: nobody looks at their sums.
template <typename S>
__device__ __forceinline__ int x_offset(const WarpJob& job, int tile) {
  const int token = min(tile * kTokenTile + lane_id() / 4, job.tokens - 1);
  const int chunk = x_column<typename S::Weight>(0, lane_id() % 4) / 8;
  return S::kWeightBytes + token * kXRowBytes + (chunk ^ token % 2 * S::kOddTokens) * 16;
}

// The products of a unit.
template <typename S>
__device__ __forceinline__ void multiply(Sums<S>& acc, const UnitWeights<S>& weights,
                                         const uint4 (&x)[S::kTiles][2]) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    uint32_t a[4];
    weights.words(0, step, a[0], a[2]);
    weights.words(1, step, a[1], a[3]);
#pragma unroll
    for (int tile = 0; tile < S::kTiles; ++tile) {
      const uint4& part = x[tile][step / 2];
      const uint32_t b[2] = {word_of(part, step % 2 * 2), word_of(part, step % 2 * 2 + 1)};
      mma_bf16(acc[tile], a, b);
    }
  }
}

// Where a warp reads: stages, and the scales behind them.
struct Ring {
  char* begin;
  char* end;
};

// The units out of `ring`, which are asked for a turn of the ring ahead; at most kStages are then
// on their way. The first turn is waited for. Over blank it is one unit.
template <typename S>
__device__ __forceinline__ void sum_units(Sums<S>& acc, Specials& specials, const LinearParams& p,
                                          const WarpJob& job, const Loader<S>& loader,
                                          const Ring& ring, int stage_bytes, int stages,
                                          bool is_over_blank) {
  const int end = is_over_blank ? job.begin + 1 : job.end;
  int scale_at = lane_id() / 4 * kScalePitch + lane_id() % 4 / 2;
  keep(scale_at);
  uint32_t place = job.begin % 2u * 2;  // of a unit's scales; the first of a sector is of an even one
  int free_sector = job.begin + kScaleUnits - 1;  // after this unit
  if (job.begin + 2 * kScaleUnits - 1 >= end) free_sector = end;
  const uint32_t one = min(p.tokens, 1);
  char* stage = ring.begin;
  int x_at[S::kTiles];
#pragma unroll
  for (int tile = 0; tile < S::kTiles; ++tile) {
    x_at[tile] = x_offset<S>(job, tile);
    keep(x_at[tile]);
  }
  const int ahead_end = end - stages;
  if (!is_over_blank) wait_copies<0>();
#pragma unroll 1
  for (int unit = job.begin; unit < end; ++unit) {
    wait_copies<S::kStages - 1>();
    __syncwarp();  // x and scales of all lanes are there
    UnitWeights<S> weights;
    uint4 x[S::kTiles][2];
    weights.load(stage + loader.weights_to);
#pragma unroll
    for (int tile = 0; tile < S::kTiles; ++tile) {
      x[tile][0] = load16(stage + x_at[tile]);
      x[tile][1] = load16(stage + (x_at[tile] ^ (S::kIsScaled ? 16 : 64)));
    }
    if constexpr (S::kIsScaled) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = place % (2 * kScaleSector) + half * 8 * kScalePitch;
        const uint32_t scale = static_cast<uint8_t>(ring.end[scale_at + at]);
        weights.factor[half] = e4m3_factor(scale);
        specials.look_at_scale(scale);
      }
      place += 2;
    }
    if (unit < ahead_end || (S::kIsScaled && unit == free_sector)) {
      __syncwarp();  // all lanes have read; the stage is free
      if (unit < ahead_end) {
        loader.copy_weights(stage, unit + stages);
        loader.copy_x(stage, unit + stages);
      }
      if (S::kIsScaled && unit == free_sector) {
        const int sector = (unit - job.begin) / kScaleUnits + 2;
        copy_scales(p, job.first_output, job.begin, ring.end, sector);
        free_sector += kScaleUnits;
      }
    }
    commit_copies();
    multiply<S>(acc, weights, x);
    if constexpr (S::kIsScaled) {
      specials.look_at(weights.row[0][0], one);
      specials.look_at(weights.row[1][0], one);
    }
    stage += stage_bytes;
    if (stage == ring.end) stage = ring.begin;
  }
}

// The warp's slice, through `ring`. While it waits for its predecessors it takes one turn of the
// loop over `blank`, a stage of nothing: its code then need not be fetched when x is there.
template <typename S>
__device__ __forceinline__ void sum_slice(Sums<S>& acc, const LinearParams& p, const WarpJob& job,
                                          const Ring& ring, const Ring& blank, int stage_bytes,
                                          int stages) {
  const Loader<S> loader(p, job);
  if constexpr (S::kIsScaled) {
#pragma unroll 1
    for (int i = 0; i < 2 && i * kScaleUnits <= job.end - job.begin; ++i) {
      copy_scales(p, job.first_output, job.begin, ring.end, i);
    }
  }
  char* stage = ring.begin;
#pragma unroll 1
  for (int unit = job.begin; stage < ring.end && unit < job.end; ++unit, stage += stage_bytes) {
    loader.copy_weights(stage, unit);
  }
  Specials specials;
#pragma unroll 1
  for (bool is_over_blank = true;; is_over_blank = false) {
    specials = {};
#pragma unroll
    for (int i = 0; i < S::kTiles * 4; ++i) acc[i / 4][i % 4] = 0.0f;
    if (!is_over_blank) {
      wait_and_trigger();  // weights are on their way; x is a predecessor's
      loader.copy_first_x(ring.begin, stage_bytes, min(stages, job.end - job.begin));
      commit_copies();
    }
    // Not a choice between the two structs, which would then lie in local memory.
    const Ring from{is_over_blank ? blank.begin : ring.begin, is_over_blank ? blank.end : ring.end};
    sum_units<S>(acc, specials, p, job, loader, from, stage_bytes, stages, is_over_blank);
    if (!is_over_blank) break;
  }
  if (S::kIsScaled && __any_sync(kAllLanes, specials.found())) {
#pragma unroll 1
    for (int tile = 0; tile < S::kTiles; ++tile) {
      const float4 sums = sum_special<typename S::Weight>(p, job, tile);
#pragma unroll
      for (int i = 0; i < S::kTiles; ++i) {
        if (i != tile) continue;
        acc[i][0] = sums.x;
        acc[i][1] = sums.y;
        acc[i][2] = sums.z;
        acc[i][3] = sums.w;
      }
    }
  }
}

// Writes the sums of a warp: [token][output].
template <typename S>
__device__ __forceinline__ void store_sums(const Sums<S>& acc, float* own) {
#pragma unroll
  for (int tile = 0; tile < S::kTiles; ++tile) {
    const int token = tile * kTokenTile + lane_id() % 4 * 2;
    float* to = own + token * kTokenPitch + lane_id() / 4;
    to[0] = acc[tile][0];
    to[kTokenPitch] = acc[tile][1];
    to[8] = acc[tile][2];
    to[kTokenPitch + 8] = acc[tile][3];
  }
}

// Grid: outputs / 16, tokens / kTokens. Block: a warp a slice. Shared memory: for each warp its
// ring, where its sums lie afterwards; a stage of nothing.
template <typename S, typename Y>
__device__ __forceinline__ void stream_linear(const LinearParams& p) {
  extern __shared__ __align__(128) char shared[];
  const int first_output = blockIdx.x * kRowTile;
  const int first_token = blockIdx.y * S::kTokens;
  const int tokens = min(p.tokens - first_token, S::kTokens);
  const int slice_units = static_cast<uint32_t>(p.slice) / kUnit;
  // Values that a loop would compute anew, were they not from another lane.
  const int begin = __shfl_sync(kAllLanes, warp_id() * slice_units, 0);
  const int end = __shfl_sync(kAllLanes, min(begin + slice_units, units_with(p, 0)), 0);
  const WarpJob job{first_output, first_token, tokens, begin, end};
  const int stage_bytes = S::kWeightBytes + min(p.tokens, S::kTokens) * kXRowBytes;
  const int stages = min(slice_units, S::kStages);
  const int warp_bytes = stages * stage_bytes + S::kScaleBytes;
  char* own = shared + warp_id() * warp_bytes;
  char* blank = shared + static_cast<int>(blockDim.x / kWarp) * warp_bytes;
  Sums<S> acc;
  sum_slice<S>(acc, p, job, {own, own + stages * stage_bytes}, {blank, blank + stage_bytes},
               stage_bytes, stages);
  __syncwarp();  // all lanes are done with the ring
  store_sums<S>(acc, reinterpret_cast<float*>(own));
  __syncthreads();
  // The slices in order; neighbouring threads have neighbouring outputs.
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < tokens * kRowTile; i += blockDim.x) {
    const int output = first_output + i % kRowTile;
    const char* from = shared + (i / kRowTile * kTokenPitch + i % kRowTile) * sizeof(float);
    float part[kMostSlices];
#pragma unroll
    for (int slice = 0; slice < kMostSlices; ++slice) {
      const bool exists = slice * kWarp < blockDim.x;
      part[slice] = exists ? *reinterpret_cast<const float*>(from + slice * warp_bytes) : 0.0f;
    }
    float total = 0.0f;  // never -0, so that adding the zeros of slices that do not exist keeps it
#pragma unroll
    for (int slice = 0; slice < kMostSlices; ++slice) total += part[slice];
    if (output < p.out) write_y<Y>(p, first_token + i / kRowTile, output, total);
  }
}

// Stages: as many as leave room for two blocks of 8 warps on a processor, and for one on a small
// one.
template <int kTokens>
using Bf16Stream = Stream<Bf16Weight, kTokens, kTokens == 16 ? 3 : 4>;
template <int kTokens>
using Mxfp8Stream = Stream<Mxfp8Weight, kTokens, kTokens == 16 ? 4 : kTokens == 8 ? 5 : 8>;

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_f32_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<4>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_f32_stream_8(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<8>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_f32_stream_16(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<16>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_bf16_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<4>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_bf16_stream_8(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<8>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_bf16_bf16_bf16_stream_16(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Bf16Stream<16>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_f32_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<4>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_f32_stream_8(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<8>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_f32_stream_16(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<16>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_bf16_stream(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<4>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_bf16_stream_8(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<8>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    linear_mxfp8_bf16_bf16_stream_16(__grid_constant__ const LinearParams p) {
  cuda::stream_linear<cuda::Mxfp8Stream<16>, cuda::Bf16>(p);
}
