// Gemma RMS norm per head and partial rotation on CUDA for heads of 128 dims, of which a multiple
// of sixteen turn: bf16, everything at multiples of 16 bytes. Half a warp has a head, a lane eight
// dims of it: it is read once, and the other half of a pair comes from another lane.
//
// A warp forms the token's angles itself, so nobody waits for others; while it does, its heads are
// on their way. What needs no predecessor, weights and frequencies, is there before. v is copied to
// its slot as one more tensor of heads. The arithmetic is that of qk_norm_rope.cu.
#include "attention_kernels/qk_norm_rope.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "device/qk_heads.cuh"
#include "device/rotation.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::kPack;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load16;
using dense_kernels::cuda::Pack;
using dense_kernels::cuda::repack;
using dense_kernels::cuda::store16;
using dense_kernels::cuda::Sum;
using dense_kernels::cuda::unpack;
using dense_kernels::cuda::warp_id;
using dense_kernels::cuda::warp_reduce;

constexpr int kDims = 128;
constexpr int kLaneDims = kPack<Bf16>;
constexpr int kHalf = kDims / kLaneDims;  // lanes of a head
static_assert(2 * kHalf == kWarp);
constexpr int kWarps = 4;

struct alignas(16) Shared {
  float cosines[kWarps][kDims / 2];  // each warp's own
  float sines[kWarps][kDims / 2];    // first the frequencies
};

// Head `head` of a token, counted as heads_of does and on over v.
struct Head {
  Heads heads;
  int32_t number;  // of its tensor
  bool is_value;

  __device__ __forceinline__ Head(const QkNormRopeParams& p, int32_t head) {
    const int32_t normed = p.heads + p.kv_heads + (p.index_q != nullptr ? p.index_heads + 1 : 0);
    is_value = head >= normed;
    number = is_value ? head - normed : head;
    if (is_value) {
      heads = {p.v, nullptr, p.v_cache, nullptr, p.v_stride, p.kv_heads, kDims};
    } else {
      heads = heads_of(p, number);
    }
  }
};

// 1 + w of the lane's dims; 1 without a weight, which changes no bit.
__device__ __forceinline__ Pack<Bf16> load_gains(const Heads& heads, int32_t d, bool weights_f32) {
  Pack<Bf16> gains = {};
  if (heads.weight != nullptr) {
    if (weights_f32) {
      const float* from = static_cast<const float*>(heads.weight) + d;
      const Pack<float> low = unpack(load16(from), from);
      const Pack<float> high = unpack(load16(from + 4), from);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        gains.value[i] = low.value[i];
        gains.value[i + 4] = high.value[i];
      }
    } else {
      const Bf16* from = static_cast<const Bf16*>(heads.weight) + d;
      gains = unpack(load16(from), from);
    }
  }
#pragma unroll
  for (int i = 0; i < kLaneDims; ++i) gains.value[i] = 1.0f + gains.value[i];
  return gains;
}

// The lane's dims of a head, normed.
__device__ __forceinline__ void norm(Pack<Bf16>& x, const Heads& heads, const Pack<Bf16>& gains,
                                     float eps) {
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kLaneDims; ++i) squares = __fmaf_rn(x.value[i], x.value[i], squares);
  const float mean = warp_reduce<Sum, kHalf>(squares) / static_cast<float>(kDims);
  const float inverse = heads.weight != nullptr ? 1.0f / sqrtf(mean + eps) : 1.0f;
#pragma unroll
  for (int i = 0; i < kLaneDims; ++i) {
    x.value[i] = __fmul_rn(__fmul_rn(x.value[i], inverse), gains.value[i]);
  }
}

// And rotated. All lanes of the warp together.
__device__ __forceinline__ void rotate(Pack<Bf16>& x, const float* cosines, const float* sines,
                                       int32_t d, int32_t pairs) {
  const bool is_low = d < pairs;
  const bool is_turned = d < 2 * pairs;
  const int32_t other_dim = is_low ? d + pairs : is_turned ? d - pairs : d;
  const int32_t pair = is_low ? d : is_turned ? other_dim : 0;
#pragma unroll
  for (int i = 0; i < kLaneDims; ++i) {
    const float other = __shfl_sync(kAllLanes, x.value[i], other_dim / kLaneDims, kHalf);
    const float turned = __fmul_rn(other, sines[pair + i]);
    const float both = __fmaf_rn(x.value[i], cosines[pair + i], is_low ? -turned : turned);
    if (is_turned) x.value[i] = both;
  }
}

// Where the lane's dims of a head are.
__device__ __forceinline__ const Bf16* input_of(const Head& head, int64_t token, int32_t d) {
  return static_cast<const Bf16*>(head.heads.in) + token * head.heads.stride + head.number * kDims +
         d;
}

}  // namespace
}  // namespace attention_kernels::cuda

// Grid: x a token, y a share of its heads.
extern "C" __global__ void __launch_bounds__(128)
    qk_norm_rope_bf16_128(__grid_constant__ const QkNormRopeParams p) {
  using namespace attention_kernels::cuda;
  __shared__ Shared s;
  float* cosines = s.cosines[warp_id()];
  float* sines = s.sines[warp_id()];
  const int64_t token = blockIdx.x;
  const int32_t pairs = p.rotary_dim / 2;
  const int32_t d = lane_id() % kHalf * kLaneDims;
  const int32_t all = p.heads + p.kv_heads + (p.index_q != nullptr ? p.index_heads + 1 : 0) +
                      (p.v != nullptr ? p.kv_heads : 0);
  // Both halves of a warp go as far as the first; behind the last head they do it again, unwritten.
  int32_t first = 2 * (blockIdx.y * kWarps + warp_id());
  Head head(p, min(first + lane_id() / kHalf, all - 1));
  Pack<Bf16> gains = load_gains(head.heads, d, p.weights_f32 != 0);
#pragma unroll 1
  for (int32_t i = lane_id(); i < pairs; i += kWarp) {
    sines[i] = frequency_of(i, p.rotary_dim, p.log2_theta);
  }
  dense_kernels::cuda::wait_and_trigger();
  const int32_t position = p.positions[token];
  const int64_t slot = p.v != nullptr ? p.slots[token] : -1;
  const bool has_slot = slot >= 0 && slot < p.cache_slots;
  uint4 word = load16(input_of(head, token, d));
#pragma unroll 1
  for (int32_t i = lane_id(); i < pairs; i += kWarp) {
    const Rotation rotation = rotation_of(__fmul_rn(static_cast<float>(position), sines[i]));
    cosines[i] = rotation.cosine;
    sines[i] = rotation.sine;
  }
  __syncwarp();
#pragma unroll 1
  while (first < all) {
    Pack<Bf16> x = unpack(word, static_cast<const Bf16*>(nullptr));
    norm(x, head.heads, gains, p.eps);
    rotate(x, cosines, sines, d, pairs);
    uint4 result = position < 0 ? uint4{} : repack(x);
    if (head.is_value) result = word;
    const int64_t in_token = head.number * kDims + d;
    const int64_t width = static_cast<int64_t>(head.heads.heads) * kDims;
    if (first + lane_id() / kHalf < all) {
      if (!head.is_value) {
        store16(static_cast<Bf16*>(head.heads.out) + token * width + in_token, result);
      }
      if (has_slot && head.heads.cache != nullptr) {
        store16(static_cast<Bf16*>(head.heads.cache) + slot * width + in_token, result);
      }
    }
    first += 2 * gridDim.y * kWarps;
    if (first >= all) break;
    head = Head(p, min(first + lane_id() / kHalf, all - 1));
    gains = load_gains(head.heads, d, p.weights_f32 != 0);
    word = load16(input_of(head, token, d));
  }
}
