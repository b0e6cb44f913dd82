// linear on CUDA for one or two tokens and MXFP8 weights: every multiprocessor has one block with
// equally many rows, and all of its weights are on their way before the predecessors are waited
// for.
//
// A warp has 4 outputs and 4 slices of their rows. Row m of its products is output m % 4 in slice m
// / 4 of them, column n is token n % 2 in slice n / 2, and only where both slices are the same are
// the sums kept: the diagonal. So the tensor core's 16 rows are full although the block has a
// number of outputs that only is a multiple of 4, and each sum is that of the other linears. Rows
// have up to eight slices, in two warps then.
//
//   shared   x: [token][columns of all slices]; for each warp its scales and its weights:
//   scales   [4 outputs][4 slices][units][2], 4 bytes from one output to the next
//   weights  [unit of 64 columns][rows g, rows g + 8][lane] 16 bytes; later the sums
//
// A token's x has 16 bytes behind it, so that eight lanes, which read half of two tokens, read all
// banks. linear_stream.cu has more tokens, and the rows that are too many or too long for this.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/linear.h"
#include "device/linear_copies.cuh"

namespace dense_kernels::cuda {
namespace {

constexpr int kOutputs = 4;      // of a warp
constexpr int kSlices = 4;       // of a warp
constexpr int kTokens = 2;       // of a launch: a product's 8 columns are two tokens in four slices
constexpr int kMostUnits = 15;   // of a slice; the plan knows it
constexpr int kHalfBytes = kWarp * 16;
constexpr int kUnitBytes = 2 * kHalfBytes;
constexpr int kXPadding = 16;
constexpr int kAhead = 4;        // units whose weights a warp widens before it waits for its predecessors

// What a warp works on.
struct WarpJob {
  int first_output;
  int first_column;  // of its slices
  int units;         // of a slice

  // The output that is row g of a product; those behind the last are the last.
  __device__ __forceinline__ int row(const LinearParams& p, int g) const {
    return min(first_output + g % kOutputs, p.out - 1);
  }

  // Row g of a product begins here, row g + 8 two slices further on.
  __device__ __forceinline__ int column(const LinearParams& p, int g) const {
    return first_column + g / kOutputs * p.slice;
  }

  __device__ __forceinline__ int scale_pitch() const { return units * kSlices * 2 + 4; }
};

// Units of which column `first` exists, 0 if none does.
__device__ __forceinline__ int units_from(const LinearParams& p, int first) {
  return first < p.in ? units_with(p, first) : 0;
}

// The scales of a warp; zeros behind the row. Eight lanes have an output.
__device__ __forceinline__ void copy_scales(const LinearParams& p, const WarpJob& job, char* to) {
  const int blocks = static_cast<uint32_t>(p.in) / 32;
  const int output = lane_id() / 8;
  const int first = job.first_column / 32;
  const char* from =
      static_cast<const char*>(p.scales) + int64_t{job.row(p, output)} * blocks + first;
  to += output * job.scale_pitch();
  const bool are_words = blocks % 4 == 0 && is_aligned(p.scales, 4);
#pragma unroll 1
  for (int i = lane_id() % 8 * 4; i < job.units * kSlices * 2; i += 32) {
    if (are_words && first + i < blocks) {
      copy4_async(to + i, from + i);
    } else {
#pragma unroll 1
      for (int k = i; k < i + 4; ++k) to[k] = first + k < blocks ? from[k] : 0;
    }
  }
}

// Asks for a group of copies for each unit of the weights, zeros behind the row, kMostUnits in all.
__device__ __forceinline__ void copy_weights(const LinearParams& p, const WarpJob& job, char* to) {
  const int g = lane_id() / 4;
  const int column = job.column(p, g) + lane_id() % 4 * 16;
  const char* from = static_cast<const char*>(p.weight) + int64_t{job.row(p, g)} * p.in + column;
  const int below = 2 * p.slice;
  const int top_units = units_from(p, column);
  const int bottom_units = units_from(p, column + below);
  const uint64_t policy = read_once();
  to += lane_id() * 16;
#pragma unroll 1
  for (int unit = 0; unit < job.units; ++unit) {
    if (unit < top_units) {
      copy16_once(to, from, policy);
    } else {
      store16(to, uint4{});
    }
    if (unit < bottom_units) {
      copy16_once(to + kHalfBytes, from + below, policy);
    } else {
      store16(to + kHalfBytes, uint4{});
    }
    commit_copies();
    from += kUnit;
    to += kUnitBytes;
  }
#pragma unroll 1
  for (int unit = job.units; unit < kMostUnits; ++unit) commit_copies();
}

// The block's way to bring all columns of x, zeros behind the row. Not as the weights come, because
// then it would be there only after all of them.
struct XLoader {
  static constexpr int kAtOnce = 4;
  const Bf16* row[kTokens];
  int end[kTokens];  // of the columns that exist
  int columns;       // to write
  int step;

  // What does not depend on x.
  __device__ __forceinline__ XLoader(const LinearParams& p, int all_columns)
      : columns(all_columns), step(blockDim.x * 8) {
#pragma unroll
    for (int token = 0; token < kTokens; ++token) {
      row[token] = kept_global(static_cast<const Bf16*>(p.x) + token * p.x_stride);
      end[token] = token < p.tokens ? p.in : 0;
      keep(end[token]);
    }
    keep(columns);
    keep(step);
  }

  __device__ __forceinline__ void load(char* to, int pitch) const {
#pragma unroll 1
    for (int first = threadIdx.x * 8; first < columns; first += kAtOnce * step) {
      uint4 part[kTokens][kAtOnce];
#pragma unroll
      for (int i = 0; i < kTokens * kAtOnce; ++i) {
        const int token = i / kAtOnce;
        part[token][i % kAtOnce] =
            load_columns<true>(row[token], first + i % kAtOnce * step, end[token]);
      }
#pragma unroll
      for (int i = 0; i < kTokens * kAtOnce; ++i) {
        const int token = i / kAtOnce;
        const int column = first + i % kAtOnce * step;
        if (end[token] == 0 || column >= columns) continue;
        store16(to + token * pitch + column * 2, part[token][i % kAtOnce]);
      }
    }
    __syncthreads();
  }
};

// Where a lane reads in shared memory.
struct Places {
  int weights;
  int scales;
  int x;
};

// A unit of weights as the products want it.
struct Widened {
  uint32_t a[kSteps][4];

  __device__ __forceinline__ void load(const char* weights, const char* scales, int below_scales,
                                       Specials& specials, uint32_t one) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint4 row = load16(weights + half * kHalfBytes);
      const uint32_t scale = static_cast<uint8_t>(scales[half * below_scales]);
      const uint32_t factor = e4m3_factor(scale);
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        e4m3x4_to_bf16_by(word_of(row, step), factor, a[step][half], a[step][half + 2]);
      }
      specials.look_at(row, one);
      specials.look_at_scale(scale);
    }
  }
};

__device__ __forceinline__ void multiply(float (&acc)[4], const Widened& weights, const char* x_at) {
  const uint4 x[2] = {load16(x_at), load16(x_at + 16)};
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const uint4& part = x[step / 2];
    const uint32_t b[2] = {word_of(part, step % 2 * 2), word_of(part, step % 2 * 2 + 1)};
    mma_bf16(acc, weights.a[step], b);
  }
}

// The units from `at` on. A unit's group of copies has kMostUnits later ones.
__device__ __forceinline__ void sum_units(float (&acc)[4], Specials& specials, const char* shared,
                                          Places at, int below_scales, int units, uint32_t one) {
#pragma unroll 1
  for (; units > 0; --units) {
    wait_copies<kMostUnits>();
    commit_copies();
    Widened weights;
    weights.load(shared + at.weights, shared + at.scales, below_scales, specials, one);
    multiply(acc, weights, shared + at.x);
    at.weights += kUnitBytes;
    at.scales += 2;
    at.x += kUnit * 2;
  }
}

// The sums again, for weights of any kind, from memory.
__device__ __noinline__ float4 sum_special(const LinearParams& p, const WarpJob& job) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const int token = min(g % kTokens, p.tokens - 1);
  const Bf16* x_row = static_cast<const Bf16*>(p.x) + token * p.x_stride;
  const int x_first = job.first_column + g / kTokens * p.slice;
  const int first = job.column(p, g);
  float acc[4] = {};
#pragma unroll 1
  for (int unit = 0; unit < job.units; ++unit) {
    const int first_unit = static_cast<uint32_t>(first) / kUnit + unit;
    RowUnit<Mxfp8Weight> top, bottom;
    top.stream<true>(p, job.row(p, g), first_unit, q);
    bottom.stream<true>(p, job.row(p, g), first_unit + 2 * job.units, q);
    uint4 x[2];
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int column = x_first + unit * kUnit + x_column<Mxfp8Weight>(part, q);
      x[part] = load_columns<true>(x_row, column, p.in);
    }
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      uint32_t a[4];
      top.words<true>(step, a[0], a[2]);
      bottom.words<true>(step, a[1], a[3]);
      const uint4& part = step < 2 ? x[0] : x[1];
      const uint32_t b[2] = {word_of(part, step % 2 * 2), word_of(part, step % 2 * 2 + 1)};
      mma_bf16(acc, a, b);
    }
  }
  return {acc[0], acc[1], acc[2], acc[3]};
}

// Writes the diagonal of a warp's sums: [slice][token][output]. Lane q % 4 has the columns of slice
// q.
__device__ __forceinline__ void store_sums(const float (&acc)[4], float* own) {
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  if (q % 2 != g / kOutputs) return;
  float* to = own + q * (kTokens * kOutputs) + g % kOutputs;
  to[0] = q < 2 ? acc[0] : acc[2];
  to[kOutputs] = q < 2 ? acc[1] : acc[3];
}

// How a block's shared memory and outputs are dealt out.
struct BlockPlan {
  WarpJob job;
  int is_halved;    // whether two warps share 4 outputs
  int x_pitch;      // bytes
  int columns;      // of all slices
  int scale_bytes;  // of a warp
  int warp_bytes;
  int own_at;       // the warp's scales, then its weights
  int blank_at;

  __device__ __forceinline__ explicit BlockPlan(const LinearParams& p)
      : is_halved(p.in > kSlices * p.slice), columns(kSlices * p.slice << is_halved) {
    const int warps = blockDim.x / kWarp;
    const int group = blockIdx.x * (warps >> is_halved) + (warp_id() >> is_halved);
    job = {group * kOutputs, (warp_id() & is_halved) * kSlices * p.slice,
           static_cast<int>(static_cast<uint32_t>(p.slice) / kUnit)};
    x_pitch = columns * 2 + kXPadding;
    scale_bytes = kOutputs * job.scale_pitch();
    warp_bytes = scale_bytes + job.units * kUnitBytes;
    own_at = p.tokens * x_pitch + warp_id() * warp_bytes;
    blank_at = p.tokens * x_pitch + warps * warp_bytes;
  }
};

// All units of a warp. Before it waits for its predecessors it takes one turn of the loop over
// nothing, whose code then need not be fetched when x is there, and widens the first units.
__device__ __forceinline__ void sum_slices(float (&acc)[4], Specials& specials,
                                           const LinearParams& p, const BlockPlan& plan,
                                           char* shared) {
  const WarpJob& job = plan.job;
  const int g = lane_id() / 4;
  const int q = lane_id() % 4;
  const uint32_t one = min(p.tokens, 1);
  const XLoader x_loader(p, plan.columns);
  const int own_weights = plan.own_at + plan.scale_bytes + lane_id() * 16;
  const int own_scales = plan.own_at + g % kOutputs * job.scale_pitch() +
                         g / kOutputs * (2 * job.units) + q / 2;
  Widened ahead[kAhead];
  Places at = {plan.blank_at + lane_id() * 16, plan.blank_at, plan.blank_at + lane_id() * 16};
#pragma unroll 1
  for (bool is_over_blank = true;; is_over_blank = false) {
    int units = 1;
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[i] = 0.0f;
    if (!is_over_blank) {
      specials = {};
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i >= job.units) continue;
        wait_copies<kMostUnits>();
        commit_copies();
        if (i == 0) __syncwarp();  // scales of all lanes are there
        ahead[i].load(shared + own_weights + i * kUnitBytes, shared + own_scales + i * 2,
                      4 * job.units, specials, one);
      }
      wait_and_trigger();  // weights are on their way; x is a predecessor's
      x_loader.load(shared, plan.x_pitch);
      at.x = min(g % kTokens, p.tokens - 1) * plan.x_pitch +
             (job.first_column + g / kTokens * p.slice + x_column<Mxfp8Weight>(0, q)) * 2;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (i < job.units) multiply(acc, ahead[i], shared + at.x + i * kUnit * 2);
      }
      at.weights = own_weights + kAhead * kUnitBytes;
      at.scales = own_scales + kAhead * 2;
      at.x += kAhead * kUnit * 2;
      units = job.units - kAhead;
    }
    sum_units(acc, specials, shared, at, 4 * job.units, units, one);
    if (!is_over_blank) break;
  }
}

// Grid: the outputs, 4 a warp or, if the rows have more than 4 slices, 4 for two warps. Shared
// memory: as above; a unit of nothing.
template <typename Y>
__device__ __forceinline__ void spread_linear(const LinearParams& p) {
  extern __shared__ __align__(128) char dynamic[];
  char* shared = kept_shared(dynamic);
  const BlockPlan plan(p);
  copy_scales(p, plan.job, shared + plan.own_at);
  char* own = shared + plan.own_at + plan.scale_bytes;
  copy_weights(p, plan.job, own);
  float acc[4];
  Specials specials;
  sum_slices(acc, specials, p, plan, shared);
  if (__any_sync(kAllLanes, specials.found())) {
    const float4 sums = sum_special(p, plan.job);
    acc[0] = sums.x;
    acc[1] = sums.y;
    acc[2] = sums.z;
    acc[3] = sums.w;
  }
  __syncwarp();  // all lanes are done with the weights
  store_sums(acc, reinterpret_cast<float*>(own));
  __syncthreads();
  // The slices in order.
  const int output = plan.job.first_output + lane_id() % kOutputs;
  const int token = lane_id() / kOutputs;
  if (plan.job.first_column > 0 || token >= min(p.tokens, kTokens) || output >= p.out) return;
  const char* from = own + lane_id() * sizeof(float);
  float total = 0.0f;  // never -0, so that adding the zeros of slices that do not exist keeps it
#pragma unroll 1
  for (int half = 0; half <= plan.is_halved; ++half, from += plan.warp_bytes) {
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      total += *reinterpret_cast<const float*>(from + slice * (kTokens * kOutputs * sizeof(float)));
    }
  }
  write_y<Y>(p, token, output, total);
}

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_f32_spread(__grid_constant__ const LinearParams p) {
  cuda::spread_linear<float>(p);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    linear_mxfp8_bf16_bf16_spread(__grid_constant__ const LinearParams p) {
  cuda::spread_linear<cuda::Bf16>(p);
}
