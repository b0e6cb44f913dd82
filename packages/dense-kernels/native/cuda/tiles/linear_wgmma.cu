// linear on Hopper for many tokens: bf16 x, products of warpgroups. A block has 128 outputs of 128
// tokens; weights and x come by cp.async through a ring of stages in shared memory, one unit of 64
// columns a stage. Each warp widens its 16 rows of the next unit while the products of this one
// run.
//
// Columns go to steps as in all linears (../device/linear_mma.cuh), so that the sums are theirs. To
// have x in that order in shared memory, it is copied by two columns at a time. Weights lie there
// as in ../device/linear_tiles.cuh, whose tiles stand in where the machine code of Hopper's own
// instructions is missing.
#include "../device/linear_tiles.cuh"
#include "dense_kernels/cuda/wgmma.cuh"

namespace dense_kernels::cuda {
namespace {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kXBytes = 128 * kWgmmaRowBytes;
constexpr int kSums = 64;  // of a thread
constexpr int kRowsAtOnce = kThreads / kWarp;  // tokens, whose words a warp has each

// Where a block's stages are: x first, since its rows want large multiples.
template <typename T>
struct Ring {
  char* x;

  __device__ __forceinline__ char* x_of(int unit) const { return x + unit % T::kStages * kXBytes; }
  __device__ __forceinline__ char* weights_of(int unit) const {
    return x + T::kStages * kXBytes + unit % T::kStages * T::kWeightBytes;
  }
};

// Where the two columns `word` of a unit go: their chunk, and the word in it.
template <typename T>
__device__ __forceinline__ int chunk_of(int word) {
  return T::kWeightPlanes == 1 ? word % 8 : word / 16 * 4 + word % 4;
}
template <typename T>
__device__ __forceinline__ int place_of(int word) {
  return T::kWeightPlanes == 1 ? word / 8 : word % 16 / 4;
}

// Two columns, zeros if they do not exist.
__device__ __forceinline__ void copy_word(void* to, const void* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(exists ? 4 : 0)
               : "memory");
}

// Copies one unit of weights and x into its stage: of x, a warp has every eighth token, a lane the
// same two columns of all of them.
template <typename T>
__device__ __forceinline__ void copy_unit(const LinearParams& p, const BlockJob& job,
                                          const Ring<T>& ring, int unit) {
  copy_weights<T>(p, job, unit, ring.weights_of(unit));
  const int word = lane_id();
  const int column = unit * kUnit + word * 2;
  const Bf16* x = static_cast<const Bf16*>(p.x);
  const Bf16* from = x + (job.first_token + warp_id()) * p.x_stride + column;
  char* to = ring.x_of(unit) + wgmma_chunk(warp_id(), chunk_of<T>(word)) + place_of<T>(word) * 4;
  const int64_t tokens = column < p.in ? p.tokens - job.first_token - warp_id() : 0;
#pragma unroll
  for (int i = 0; i < T::kTokens / kRowsAtOnce; ++i) {
    const bool exists = i * kRowsAtOnce < tokens;
    copy_word(to + i * kRowsAtOnce * kWgmmaRowBytes,
              exists ? from + i * kRowsAtOnce * p.x_stride : x, exists);
  }
}

// The scales of a lane's two rows for one unit.
struct RowScales {
  uint32_t top = 0;
  uint32_t bottom = 0;

  template <typename T>
  __device__ __forceinline__ void load(const LinearParams& p, int row, int unit, int q) {
    if constexpr (T::kWeightPlanes == 1) {
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
template <typename T>
__device__ __forceinline__ void widen(uint32_t (&a)[4 * kSteps], const char* stage,
                                      const RowScales& scales) {
  const int q = lane_id() % 4;
  const int row = warp_id() * kRowTile + lane_id() / 4;
  const auto top = read_row<T>(stage, row, q, scales.top);
  const auto bottom = read_row<T>(stage, row + 8, q, scales.bottom);
  if (__any_sync(kAllLanes, top.is_special() || bottom.is_special())) {
    widen_by<true>(a, top, bottom);
  } else {
    widen_by<false>(a, top, bottom);
  }
}

// Waits for this thread's copies but the last kPending units', then for everybody's.
template <int kPending>
__device__ __forceinline__ void wait_for_stage() {
  wait_copies<kPending>();
  fence_async_proxy();
  __syncthreads();
}

// Sums of the warp's rows for all tokens of the block.
template <typename T>
__device__ __forceinline__ void sum_units(float (&total)[kSums], const LinearParams& p,
                                          const BlockJob& job, const Ring<T>& ring) {
  const int q = lane_id() % 4;
  const int row = job.first_output + warp_id() * kRowTile + lane_id() / 4;
  const int units_of_slice = p.slice / kUnit;
  RowScales scales;
  scales.load<T>(p, row, 0, q);
#pragma unroll 1
  for (int unit = 0; unit < T::kStages - 1; ++unit) {
    if (unit < job.units) copy_unit(p, job, ring, unit);
    commit_copies();  // empty groups keep the count right
  }
  float slice[kSums] = {};
  uint32_t a[4 * kSteps];
  wait_for_stage<T::kStages - 2>();
  widen<T>(a, ring.weights_of(0), scales);
  int within = 0;  // the slice
#pragma unroll 1
  for (int unit = 0; unit < job.units; ++unit) {
    const bool has_next = unit + 1 < job.units;
    if (has_next) scales.load<T>(p, row, unit + 1, q);
    const uint64_t x = wgmma_rows(ring.x_of(unit));
    pin(slice);
    pin(a);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      wgmma<128>(slice, a + 4 * step, x + 2 * step, within + step);
    }
    wgmma_commit();
    uint32_t next[4 * kSteps] = {};
    if (has_next) {
      // From then on everybody is done with the stage before this one, too.
      wait_for_stage<T::kStages - 3>();
      const int ahead = unit + T::kStages - 1;
      if (ahead < job.units) copy_unit(p, job, ring, ahead);
      commit_copies();
      widen<T>(next, ring.weights_of(unit + 1), scales);
    }
    wgmma_wait();
    pin(slice);
    pin(a);
    const bool ends = ++within == units_of_slice || !has_next;
    if (ends) {
      within = 0;
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[i] += slice[i];
    }
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) a[i] = next[i];
  }
}

// Sums to shared memory, [token][output].
template <typename T>
__device__ __forceinline__ void spread_rows(const float (&total)[kSums], float* result) {
  const int row = warp_id() * kRowTile + lane_id() / 4;
  const int first_token = lane_id() % 4 * 2;
#pragma unroll
  for (int t = 0; t < T::kTokens / kTokenTile; ++t) {
    float* to = result + (first_token + t * kTokenTile) * T::kPitch + row;
    to[0] = total[4 * t];
    to[T::kPitch] = total[4 * t + 1];
    to[8] = total[4 * t + 2];
    to[T::kPitch + 8] = total[4 * t + 3];
  }
}

// Grid: outputs / 128, tokens / 128. Shared memory: the stages, from a multiple of 1024 bytes on.
template <typename T, typename Y>
__device__ __forceinline__ void wgmma_linear(const LinearParams& p) {
  static_assert(T::kRows == 128 && T::kTokens == 128 && T::kStageBytes == T::kWeightBytes + kXBytes);
  extern __shared__ __align__(1024) char memory[];
  char* stages = memory + (-shared_address(memory) & (kWgmmaAlign - 1));
  const BlockJob job{static_cast<int>(blockIdx.x) * T::kRows, int64_t{blockIdx.y} * T::kTokens,
                     (p.in + kUnit - 1) / kUnit};
  float total[kSums] = {};
  sum_units<T>(total, p, job, {stages});
  wait_copies<0>();
  __syncthreads();  // the stages are free
  float* result = reinterpret_cast<float*>(stages);
  spread_rows<T>(total, result);
  __syncthreads();
  write_result<T, Y>(p, job, result);
}

#else

// Code for other devices, which Hopper runs if its own was not compiled (docs/building.md of
// cuda-runtime): the same tiles, the same bits.
template <typename T, typename Y>
__device__ __forceinline__ void wgmma_linear(const LinearParams& p) {
  tile_linear<T, Y>(p);
}

#endif

}  // namespace
}  // namespace dense_kernels::cuda

namespace cuda = dense_kernels::cuda;

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_f32_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wait_and_trigger();
  cuda::wgmma_linear<cuda::Wide<cuda::Bf16Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_bf16_bf16_bf16_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wait_and_trigger();
  cuda::wgmma_linear<cuda::Wide<cuda::Bf16Weight>, cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_f32_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wait_and_trigger();
  cuda::wgmma_linear<cuda::Wide<cuda::Mxfp8Weight>, float>(p);
}

extern "C" __global__ void __launch_bounds__(256, 1)
    linear_mxfp8_bf16_bf16_wgmma(__grid_constant__ const LinearParams p) {
  cuda::wait_and_trigger();
  cuda::wgmma_linear<cuda::Wide<cuda::Mxfp8Weight>, cuda::Bf16>(p);
}
