// Gemma RMS norm per head and partial rotation of q, k and the index pair on CUDA: a warp per head.
//
// A block does heads of one token, so that the angles are formed once for all of its warps; how
// many blocks share a token is the plan's choice and changes no bit. A head is widened into shared
// memory, where a lane finds the other half of a pair. Reads and writes each element once; with a
// cache, keys go to their slot too, and v is copied there. Any sizes; the usual one is
// qk_norm_rope_128.cu, which does the same arithmetic.
#include "attention_kernels/qk_norm_rope.h"
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "device/qk_heads.cuh"
#include "device/rotation.cuh"

namespace attention_kernels::cuda {
namespace {

using dense_kernels::cuda::Bf16;
using dense_kernels::cuda::is_aligned;
using dense_kernels::cuda::kPack;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load16;
using dense_kernels::cuda::load_pack;
using dense_kernels::cuda::Pack;
using dense_kernels::cuda::prefetch;
using dense_kernels::cuda::store16;
using dense_kernels::cuda::store_pack;
using dense_kernels::cuda::to_f32;
using dense_kernels::cuda::wait_and_trigger;
using dense_kernels::cuda::warp_id;
using dense_kernels::cuda::warp_sum;

constexpr int kMaxDims = 512;
constexpr int kWarps = 4;

struct alignas(16) Shared {
  float x[kWarps][kMaxDims];  // first, so that a head's vectors are aligned
  float cosines[kMaxDims / 2];
  float sines[kMaxDims / 2];
};

// The frequencies need no predecessor: they are formed while the block waits. Kept in `sines`,
// where the same thread finds them again.
__device__ __forceinline__ void fill_frequencies(Shared& s, const QkNormRopeParams& p) {
  for (int32_t i = threadIdx.x; i < p.rotary_dim / 2; i += blockDim.x) {
    s.sines[i] = frequency_of(i, p.rotary_dim, p.log2_theta);
  }
}

// The frequency is rounded to fp32 once, the product once; cosine and sine are those of exactly
// that number.
__device__ __forceinline__ void fill_rotation(Shared& s, const QkNormRopeParams& p,
                                              int32_t position) {
  for (int32_t i = threadIdx.x; i < p.rotary_dim / 2; i += blockDim.x) {
    const float angle = __fmul_rn(static_cast<float>(position), s.sines[i]);
    const Rotation rotation = rotation_of(angle);
    s.cosines[i] = rotation.cosine;
    s.sines[i] = rotation.sine;
  }
}

// 1 + w; 1 without a weight, which changes no bit of x.
__device__ __forceinline__ float gain(const Heads& heads, int32_t d, bool weights_f32) {
  if (heads.weight == nullptr) return 1.0f;
  return 1.0f + (weights_f32 ? static_cast<const float*>(heads.weight)[d]
                             : to_f32(static_cast<const Bf16*>(heads.weight)[d]));
}

// Dim d of the output: normed, and rotated if it is in the first rotary_dim.
__device__ __forceinline__ float output(const Shared& s, const float* x, const Heads& heads,
                                        const QkNormRopeParams& p, float inverse, int32_t d) {
  const bool f32 = p.weights_f32 != 0;
  const float own = __fmul_rn(__fmul_rn(x[d], inverse), gain(heads, d, f32));
  if (d >= p.rotary_dim) return own;
  const int32_t pairs = p.rotary_dim / 2;
  const bool is_low = d < pairs;
  const int32_t other_dim = is_low ? d + pairs : d - pairs;
  const int32_t pair = is_low ? d : other_dim;
  const float other = __fmul_rn(__fmul_rn(x[other_dim], inverse), gain(heads, other_dim, f32));
  const float turned = __fmul_rn(other, s.sines[pair]);
  return __fmaf_rn(own, s.cosines[pair], is_low ? -turned : turned);
}

// Where a head's output goes.
template <typename T>
struct Output {
  T* out;
  T* slot;  // in the cache; null: not there
  bool out_aligned, slot_aligned;

  __device__ __forceinline__ void store(int32_t d, const Pack<T>& pack, int32_t dims) const {
    store_pack(out + d, pack, out_aligned, dims - d);
    if (slot != nullptr) store_pack(slot + d, pack, slot_aligned, dims - d);
  }
};

template <typename T>
__device__ __forceinline__ void norm_and_rotate(Shared& s, const Heads& heads,
                                                const QkNormRopeParams& p, const T* in,
                                                const Output<T>& to) {
  const bool in_aligned = is_aligned(in);
  float* x = s.x[warp_id()];
  float squares = 0.0f;
  for (int32_t d = lane_id() * kPack<T>; d < heads.dims; d += kWarp * kPack<T>) {
    const Pack<T> pack = load_pack(in + d, in_aligned, heads.dims - d);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      x[d + i] = pack.value[i];  // zeros behind the head: kMaxDims is whole packs
      squares = __fmaf_rn(pack.value[i], pack.value[i], squares);
    }
  }
  const float mean = warp_sum(squares) / static_cast<float>(heads.dims);
  const float inverse = heads.weight != nullptr ? 1.0f / sqrtf(mean + p.eps) : 1.0f;
  __syncwarp();
  for (int32_t d = lane_id() * kPack<T>; d < heads.dims; d += kWarp * kPack<T>) {
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      pack.value[i] = d + i < heads.dims ? output(s, x, heads, p, inverse, d + i) : 0.0f;
    }
    to.store(d, pack, heads.dims);
  }
  __syncwarp();  // x is the next head's
}

template <typename T>
__device__ __forceinline__ void store_zeros(const Output<T>& to, int32_t dims) {
  const Pack<T> zeros = {};
  for (int32_t d = lane_id() * kPack<T>; d < dims; d += kWarp * kPack<T>) {
    to.store(d, zeros, dims);
  }
}

// The token's v into its slot, as bits: a warp copies a head.
template <typename T>
__device__ __forceinline__ void copy_values(const QkNormRopeParams& p, int64_t token,
                                            int64_t slot) {
  const int64_t dims = p.head_dim;
  for (int32_t head = blockIdx.y * kWarps + warp_id(); head < p.kv_heads;
       head += gridDim.y * kWarps) {
    const T* from = static_cast<const T*>(p.v) + token * p.v_stride + head * dims;
    T* to = static_cast<T*>(p.v_cache) + (slot * p.kv_heads + head) * dims;
    const bool aligned = is_aligned(from) && is_aligned(to);
    for (int32_t d = lane_id() * kPack<T>; d < p.head_dim; d += kWarp * kPack<T>) {
      if (aligned && p.head_dim - d >= kPack<T>) {
        store16(to + d, load16(from + d));
        continue;
      }
      for (int i = 0; i < kPack<T> && d + i < p.head_dim; ++i) to[d + i] = from[d + i];
    }
  }
}

// Asks for a head's bytes, which are wanted when the angles are there.
template <typename T>
__device__ __forceinline__ void prefetch_head(const T* in, int32_t dims) {
  const int32_t d = lane_id() * kPack<T>;
  if (d < dims) prefetch(in + d);
}

// Asks for the weights of a head, which are cold in every step of a model.
__device__ __forceinline__ void prefetch_gains(const Heads& heads, bool weights_f32) {
  constexpr int32_t kLane = 8;  // elements
  const int32_t d = lane_id() * kLane;
  if (heads.weight == nullptr || d >= heads.dims) return;
  prefetch(static_cast<const char*>(heads.weight) + d * (weights_f32 ? 4 : 2));
}

template <typename T>
__device__ __forceinline__ const T* input_of(const Heads& heads, int64_t token, int32_t head) {
  return static_cast<const T*>(heads.in) + token * heads.stride +
         static_cast<int64_t>(head) * heads.dims;
}

// Grid: x a token, y a share of its heads.
template <typename T>
__device__ __forceinline__ void qk_norm_rope(const QkNormRopeParams& p) {
  __shared__ Shared s;
  const int64_t token = blockIdx.x;
  const bool has_index = p.index_q != nullptr;
  const int32_t all = p.heads + p.kv_heads + (has_index ? p.index_heads + 1 : 0);
  const int32_t first = blockIdx.y * kWarps + warp_id();
  int32_t head_in_first = min(first, all - 1);
  const Heads first_heads = heads_of(p, head_in_first);
  prefetch_gains(first_heads, p.weights_f32 != 0);
  fill_frequencies(s, p);
  wait_and_trigger();
  const int32_t position = p.positions[token];
  const int64_t slot = p.v != nullptr ? p.slots[token] : -1;
  const bool has_slot = slot >= 0 && slot < p.cache_slots;
  prefetch_head(input_of<T>(first_heads, token, head_in_first), first_heads.dims);
  fill_rotation(s, p, position);
  __syncthreads();
  for (int32_t i = first; i < all; i += gridDim.y * kWarps) {
    int32_t head = i;
    const Heads heads = heads_of(p, head);
    const int64_t dims = heads.dims;
    const T* in = input_of<T>(heads, token, head);
    T* out = static_cast<T*>(heads.out) + (token * heads.heads + head) * dims;
    T* cached = has_slot && heads.cache != nullptr
                    ? static_cast<T*>(heads.cache) + (slot * heads.heads + head) * dims
                    : nullptr;
    const Output<T> to = {out, cached, is_aligned(out), is_aligned(cached)};
    if (position < 0) {
      store_zeros(to, heads.dims);
    } else {
      norm_and_rotate(s, heads, p, in, to);
    }
  }
  if (has_slot) copy_values<T>(p, token, slot);
}

}  // namespace
}  // namespace attention_kernels::cuda

extern "C" __global__ void __launch_bounds__(128, 8)
    qk_norm_rope_bf16(__grid_constant__ const QkNormRopeParams p) {
  attention_kernels::cuda::qk_norm_rope<attention_kernels::cuda::Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(128, 8)
    qk_norm_rope_f32(__grid_constant__ const QkNormRopeParams p) {
  attention_kernels::cuda::qk_norm_rope<float>(p);
}
