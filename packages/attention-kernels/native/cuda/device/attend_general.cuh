// Attention for any sizes and both dtypes: a warp per query head, four heads of a KV head a block.
//
// A row meets its keys in ascending order, 32 at a time from the start of its walk; the block's
// rows share a tile of keys, then of values, widened into shared memory. Nothing in a row depends
// on the other rows, so a result does not depend on batch or chunk.
#ifndef ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_GENERAL_CUH
#define ATTENTION_KERNELS_CUDA_DEVICE_ATTEND_GENERAL_CUH

#include "dense_kernels/cuda/reduce.cuh"
#include "dense_kernels/cuda/vector.cuh"

#include "attend.cuh"

namespace attention_kernels::cuda::general {

using dense_kernels::cuda::kAllLanes;
using dense_kernels::cuda::kPack;
using dense_kernels::cuda::kWarp;
using dense_kernels::cuda::lane_id;
using dense_kernels::cuda::load_pack;
using dense_kernels::cuda::Pack;
using dense_kernels::cuda::round_to;
using dense_kernels::cuda::rows_are_aligned;
using dense_kernels::cuda::to_f32;
using dense_kernels::cuda::warp_id;
using dense_kernels::cuda::warp_max;
using dense_kernels::cuda::warp_sum;

constexpr int kWarps = 4;
constexpr int kTileKeys = kWarp;               // a lane per key
constexpr int kColumns = 512 / kWarp;          // most dims of a lane

// Rows of a tile are one word longer than head_dim, so that lanes with a key each meet no bank
// twice when head_dim is even.
__device__ __forceinline__ int32_t tile_stride(const Attend& a) { return a.head_dim + 1; }

// Widens the rows of the lanes' keys; zeros where there is no key. All warps of the block.
template <typename T>
__device__ __forceinline__ void load_tile(const Attend& a, const T* cache, const Key& key,
                                          bool aligned, float* tile) {
  for (int32_t row = warp_id(); row < kTileKeys; row += kWarps) {
    const int64_t offset = __shfl_sync(kAllLanes, key.offset, row);
    const bool exists = __shfl_sync(kAllLanes, key.position, row) != kNoPosition;
    float* to = tile + row * tile_stride(a);
    for (int32_t d = lane_id() * kPack<T>; d < a.head_dim; d += kWarp * kPack<T>) {
      const int32_t left = exists ? a.head_dim - d : 0;
      const Pack<T> pack = load_pack(cache + offset + d, aligned, left);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) {
        if (d + i < a.head_dim) to[d + i] = pack.value[i];
      }
    }
  }
}

// q . key in four sums.
__device__ __forceinline__ float dot(const float* q, const float* key, int32_t dims) {
  float sums[4] = {};
  int32_t d = 0;
  for (; d + 4 <= dims; d += 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sums[i] = fmaf(q[d + i], key[d + i], sums[i]);
  }
  for (; d < dims; ++d) sums[0] = fmaf(q[d], key[d], sums[0]);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// A query row's running softmax; a lane has dims lane, lane + 32, ….
struct Row {
  float largest = kMinusInfinity;
  float sum = 0.0f;
  float acc[kColumns] = {};
};

// The lane's key's weight; brings what the row has to the new maximum.
__device__ __forceinline__ float take_score(Row& row, float score, bool is_seen) {
  if (!is_seen) score = kMinusInfinity;
  const float top = fmaxf(row.largest, warp_max(score));
  const float correction = row.largest == top ? 1.0f : expf(row.largest - top);
  const float weight = is_seen ? expf(score - (top == kMinusInfinity ? 0.0f : top)) : 0.0f;
  row.sum = row.sum * correction + warp_sum(weight);
  row.largest = top;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) row.acc[i] *= correction;
  return weight;
}

__device__ __forceinline__ void add_values(Row& row, float weight, const float* tile,
                                           int32_t stride, int32_t dims) {
  for (int32_t key = 0; key < kTileKeys; ++key) {
    const float w = __shfl_sync(kAllLanes, weight, key);
    const float* value = tile + key * stride;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int32_t d = i * kWarp + lane_id();
      if (i * kWarp < dims && d < dims) row.acc[i] = fmaf(w, value[d], row.acc[i]);
    }
  }
}

// Grid: x a token, y a KV head and four of its query heads. Shared memory: a tile and four queries.
template <typename T>
__device__ __forceinline__ void attend(const Attend& a) {
  extern __shared__ float shared[];
  const int32_t dims = a.head_dim;
  const int32_t group = a.heads / a.kv_heads;
  const int32_t parts = (group + kWarps - 1) / kWarps;
  const int32_t kv_head = blockIdx.y / parts;
  const int32_t in_group = blockIdx.y % parts * kWarps + warp_id();
  const int64_t token = blockIdx.x;
  const int64_t offset = (token * a.heads + kv_head * group + in_group) * dims;
  float* tile = shared;
  float* q = shared + kTileKeys * tile_stride(a) + warp_id() * dims;
  const bool has_head = in_group < group;
  for (int32_t d = lane_id(); d < dims; d += kWarp) {
    q[d] = has_head ? to_f32(static_cast<const T*>(a.q)[offset + d]) : 0.0f;
  }
  const T* k_cache = static_cast<const T*>(a.k_cache);
  const T* v_cache = static_cast<const T*>(a.v_cache);
  const bool k_aligned = rows_are_aligned(k_cache, dims);
  const bool v_aligned = rows_are_aligned(v_cache, dims);
  const Walk walk(a, token, kv_head, a.positions[token]);
  Row row;
  for (int32_t place = 0; place < walk.places(); place += kTileKeys) {
    const Key key = walk.key(place + lane_id());
    const bool is_seen = key.position != kNoPosition;
    if (!__any_sync(kAllLanes, is_seen)) continue;  // every warp of the block has the same keys
    __syncthreads();                                // the values before are done with
    load_tile(a, k_cache, key, k_aligned, tile);
    __syncthreads();
    const float score = dot(q, tile + lane_id() * tile_stride(a), dims) * a.scale;
    const float weight = take_score(row, score, is_seen);
    __syncthreads();
    load_tile(a, v_cache, key, v_aligned, tile);
    __syncthreads();
    add_values(row, weight, tile, tile_stride(a), dims);
  }
  if (!has_head) return;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int32_t d = i * kWarp + lane_id();
    const float value = row.sum == 0.0f ? 0.0f : row.acc[i] / row.sum;
    if (d < dims) static_cast<T*>(a.out)[offset + d] = round_to<T>(value);
  }
}

}  // namespace attention_kernels::cuda::general

#endif
