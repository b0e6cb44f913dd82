// linear on Hopper for many tokens: bf16 x, products of warpgroups. A block has 128 outputs of 128
// tokens; weights and x come by cp.async through a ring of stages in shared memory, one unit of 64
// columns a stage. Each warp widens its 16 rows of the next unit while the products of this one
// run.
//
// Columns go to steps as in all linears (../device/linear_mma.cuh), so that the sums are theirs. To
// have x in that order in shared memory, it is copied by two columns at a time. Weights lie there
// as in linear_tile.cu, which is for devices without such products.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/wgmma.cuh"
#include "dense_kernels/linear.h"
#include "../device/linear_copies.cuh"
#include "../device/linear_mma.cuh"

namespace dense_kernels::cuda {
namespace {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kThreads = 256;
constexpr int kRows = 128;
constexpr int kTokens = 128;
constexpr int kStages = 4;
constexpr int kPlaneRow = 64;  // bytes
constexpr int kXBytes = kTokens * kWgmmaRowBytes;
constexpr int kPitch = kRows + 4;  // floats of a token in the result, no bank conflicts
constexpr int kRowsAtOnce = kThreads / kWarp;  // tokens, whose words a warp has each

template <typename Weight>
constexpr int kPlanes = sizeof(typename Weight::Element);
template <typename Weight>
constexpr int kWeightBytes = kRows * kPlaneRow * kPlanes<Weight>;

// What a block works on, and where its stages are: x first, since its rows want large multiples.
template <typename Weight>
struct BlockJob {
  int first_output;
  int64_t first_token;
  int units;
  char* x;

  __device__ __forceinline__ char* x_of(int unit) const { return x + unit % kStages * kXBytes; }
  __device__ __forceinline__ char* weights_of(int unit) const {
    return x + kStages * kXBytes + unit % kStages * kWeightBytes<Weight>;
  }
};

// Where the two columns `word` of a unit go: their chunk, and the word in it.
template <typename Weight>
__device__ __forceinline__ int chunk_of(int word) {
  return kPlanes<Weight> == 1 ? word % 8 : word / 16 * 4 + word % 4;
}
template <typename Weight>
__device__ __forceinline__ int place_of(int word) {
  return kPlanes<Weight> == 1 ? word / 8 : word % 16 / 4;
}

// Two columns, zeros if they do not exist.
__device__ __forceinline__ void copy_word(void* to, const void* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(exists ? 4 : 0)
               : "memory");
}

// Copies one unit of weights and x into its stage. Rows behind the last are the last one, tokens
// behind the last and columns behind the row are zeros.
template <typename Weight>
__device__ __forceinline__ void copy_stage(const LinearParams& p, const BlockJob<Weight>& job,
                                           int unit) {
  using Element = typename Weight::Element;
  constexpr int kPerChunk = 16 / sizeof(Element);
  constexpr int kChunks = kUnit / kPerChunk;  // of a row of weights: 8 bf16, 4 mxfp8
  char* weights = job.weights_of(unit);
#pragma unroll
  for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x;
    const int row = at / kChunks;
    const int chunk = at % kChunks;
    const int64_t output = min(job.first_output + row, p.out - 1);
    const int column = unit * kUnit + chunk * kPerChunk;
    const Element* from = static_cast<const Element*>(p.weight) + output * p.in;
    const bool exists = column < p.in;
    copy16_async(weights + (chunk / 4 * kRows + row) * kPlaneRow + chunk % 4 * 16,
                 from + (exists ? column : 0), exists);
  }
  // A warp has every eighth token, a lane the same two columns of all of them.
  const int word = lane_id();
  const int column = unit * kUnit + word * 2;
  const Bf16* x = static_cast<const Bf16*>(p.x);
  const Bf16* from = x + (job.first_token + warp_id()) * p.x_stride + column;
  char* to = job.x_of(unit) + wgmma_chunk(warp_id(), chunk_of<Weight>(word)) +
             place_of<Weight>(word) * 4;
  const int64_t tokens = column < p.in ? p.tokens - job.first_token - warp_id() : 0;
#pragma unroll
  for (int i = 0; i < kTokens / kRowsAtOnce; ++i) {
    const bool exists = i * kRowsAtOnce < tokens;
    copy_word(to + i * kRowsAtOnce * kWgmmaRowBytes,
              exists ? from + i * kRowsAtOnce * p.x_stride : x, exists);
  }
}

// The lane's part of a row of weights of a stage.
template <typename Weight>
__device__ __forceinline__ RowUnit<Weight> read_row(const char* stage, int row, int q,
                                                    uint32_t scale) {
  const char* from = stage + row * kPlaneRow + q * 16;
  if constexpr (kPlanes<Weight> == 2) {
    return {{load16(from), load16(from + kRows * kPlaneRow)}};
  } else {
    return {load16(from), scale};
  }
}

// The scales of a lane's two rows for one unit.
struct Scales {
  uint32_t top = 0;
  uint32_t bottom = 0;

  template <typename Weight>
  __device__ __forceinline__ void load(const LinearParams& p, int row, int unit, int q) {
    if constexpr (kPlanes<Weight> == 1) {
      top = RowUnit<Mxfp8Weight>::scale_of(p, min(row, p.out - 1), unit, q);
      bottom = RowUnit<Mxfp8Weight>::scale_of(p, min(row + 8, p.out - 1), unit, q);
    }
  }
};

template <bool kSpecial, typename Weight>
__device__ __forceinline__ void widen_by(uint32_t (&a)[4 * kSteps], const RowUnit<Weight>& top,
                                         const RowUnit<Weight>& bottom) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    top.template words<kSpecial>(step, a[4 * step], a[4 * step + 2]);
    bottom.template words<kSpecial>(step, a[4 * step + 1], a[4 * step + 3]);
  }
}

// A warp's 16 rows of a unit as the products take them.
template <typename Weight>
__device__ __forceinline__ void widen(uint32_t (&a)[4 * kSteps], const char* stage,
                                      const Scales& scales) {
  const int q = lane_id() % 4;
  const int row = warp_id() * kRowTile + lane_id() / 4;
  const auto top = read_row<Weight>(stage, row, q, scales.top);
  const auto bottom = read_row<Weight>(stage, row + 8, q, scales.bottom);
  if (__any_sync(kAllLanes, top.is_special() || bottom.is_special())) {
    widen_by<true>(a, top, bottom);
  } else {
    widen_by<false>(a, top, bottom);
  }
}

// Waits for this thread's copies of the next unit, then for everybody's.
__device__ __forceinline__ void wait_for_stage() {
  wait_copies<kStages - 3>();
  wgmma_sees_copies();
  __syncthreads();
}

// Sums of the warp's rows for all tokens of the block.
template <typename Weight>
__device__ __forceinline__ void sum_units(float (&total)[kWgmmaSums], const LinearParams& p,
                                          const BlockJob<Weight>& job) {
  const int q = lane_id() % 4;
  const int row = job.first_output + warp_id() * kRowTile + lane_id() / 4;
  const int units_of_slice = p.slice / kUnit;
  Scales scales;
  scales.load<Weight>(p, row, 0, q);
#pragma unroll 1
  for (int unit = 0; unit < kStages - 1; ++unit) {
    if (unit < job.units) copy_stage(p, job, unit);
    commit_copies();  // empty groups keep the count right
  }
  float slice[kWgmmaSums] = {};
  uint32_t a[4 * kSteps];
  wait_copies<kStages - 2>();
  wgmma_sees_copies();
  __syncthreads();
  widen<Weight>(a, job.weights_of(0), scales);
  int within = 0;  // the slice
#pragma unroll 1
  for (int unit = 0; unit < job.units; ++unit) {
    const bool has_next = unit + 1 < job.units;
    if (has_next) scales.load<Weight>(p, row, unit + 1, q);
    const uint64_t x = wgmma_rows(job.x_of(unit));
    hold(slice);
    hold(a);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      wgmma_64x128(slice, a + 4 * step, x + 2 * step, within + step);
    }
    wgmma_commit();
    uint32_t next[4 * kSteps] = {};
    if (has_next) {
      wait_for_stage();  // now everybody is done with the stage before this one, too
      const int ahead = unit + kStages - 1;
      if (ahead < job.units) copy_stage(p, job, ahead);
      commit_copies();
      widen<Weight>(next, job.weights_of(unit + 1), scales);
    }
    wgmma_wait();
    hold(slice);
    hold(a);
    const bool ends = ++within == units_of_slice || !has_next;
    if (ends) {
      within = 0;
#pragma unroll
      for (int i = 0; i < kWgmmaSums; ++i) total[i] += slice[i];
    }
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) a[i] = next[i];
  }
}

// Sums to shared memory, [token][output].
__device__ __forceinline__ void spread_sums(const float (&total)[kWgmmaSums], float* result) {
  const int row = warp_id() * kRowTile + lane_id() / 4;
  const int first_token = lane_id() % 4 * 2;
#pragma unroll
  for (int t = 0; t < kTokens / kTokenTile; ++t) {
    float* to = result + (first_token + t * kTokenTile) * kPitch + row;
    to[0] = total[4 * t];
    to[kPitch] = total[4 * t + 1];
    to[8] = total[4 * t + 2];
    to[kPitch + 8] = total[4 * t + 3];
  }
}

// From shared memory to y, rounded once; 16 bytes a thread where y allows it.
template <typename Weight, typename Y>
__device__ __forceinline__ void write_result(const LinearParams& p, const BlockJob<Weight>& job,
                                             const float* result) {
  constexpr int kPacks = kRows / kPack<Y>;  // of a token
  Y* y = static_cast<Y*>(p.y);
  const bool aligned = rows_are_aligned(y, p.y_stride);
  for (int i = threadIdx.x; i < kTokens * kPacks; i += kThreads) {
    const int row = i / kPacks;
    const int column = i % kPacks * kPack<Y>;
    const int left = p.out - job.first_output - column;
    if (job.first_token + row >= p.tokens || left <= 0) continue;
    Pack<Y> pack;
#pragma unroll
    for (int k = 0; k < kPack<Y>; ++k) pack.value[k] = result[row * kPitch + column + k];
    store_pack(y + (job.first_token + row) * p.y_stride + job.first_output + column, pack, aligned,
               left);
  }
}

// Grid: outputs / 128, tokens / 128. Shared memory: the stages, from a multiple of 1024 bytes on.
template <typename Weight, typename Y>
__device__ __forceinline__ void wgmma_linear(const LinearParams& p) {
  extern __shared__ __align__(1024) char memory[];
  wait_and_trigger();
  char* stages = memory + (-shared_address(memory) & (kWgmmaAlign - 1));
  const BlockJob<Weight> job{static_cast<int>(blockIdx.x) * kRows, int64_t{blockIdx.y} * kTokens,
                             (p.in + kUnit - 1) / kUnit, stages};
  float total[kWgmmaSums] = {};
  sum_units(total, p, job);
  wait_copies<0>();
  __syncthreads();  // the stages are free
  float* result = reinterpret_cast<float*>(stages);
  spread_sums(total, result);
  __syncthreads();
  write_result<Weight, Y>(p, job, result);
}

#else

// The plan never takes this where there are no such products.
template <typename Weight, typename Y>
__device__ __forceinline__ void wgmma_linear(const LinearParams&) {
  asm volatile("trap;");
}

#endif

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_f32_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wgmma_linear<cuda::Bf16Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_bf16_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wgmma_linear<cuda::Bf16Weight, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_f32_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wgmma_linear<cuda::Mxfp8Weight, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_bf16_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wgmma_linear<cuda::Mxfp8Weight, cuda::Bf16>(p);
}
