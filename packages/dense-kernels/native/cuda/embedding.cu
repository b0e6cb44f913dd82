// Row gather on CUDA: a block a token. Rows of one dtype are copied by 16 bytes, bit for bit;
// others go through fp32, eight elements a thread. Bound by memory.
#include "dense_kernels/cuda/pdl.cuh"
#include "dense_kernels/cuda/vector.cuh"
#include "dense_kernels/embedding.h"

namespace dense_kernels::cuda {
namespace {

constexpr int kAtOnce = 8;

// Null for an id outside the table.
template <typename From>
__device__ __forceinline__ const From* row_of(const EmbeddingParams& p, int64_t token) {
  const int64_t row = int64_t{static_cast<const int32_t*>(p.ids)[token]} - p.first_id;
  if (row < 0 || row >= p.rows) return nullptr;
  return static_cast<const From*>(p.table) + row * p.table_stride;
}

template <typename T>
__device__ __forceinline__ void copy_row(const T* from, T* to, int count) {
  int done = 0;
  if (is_aligned(from) && is_aligned(to)) {
    const int whole = count / kPack<T>;
    for (int i = threadIdx.x; i < whole; i += blockDim.x) {
      store16(to + i * kPack<T>, load16(from + i * kPack<T>));
    }
    done = whole * kPack<T>;
  }
  for (int i = done + threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

template <typename T>
__device__ __forceinline__ void clear_row(T* to, int count) {
  int done = 0;
  if (is_aligned(to)) {
    const int whole = count / kPack<T>;
    for (int i = threadIdx.x; i < whole; i += blockDim.x) store16(to + i * kPack<T>, uint4{});
    done = whole * kPack<T>;
  }
  for (int i = done + threadIdx.x; i < count; i += blockDim.x) to[i] = T{};
}

template <typename From, typename To>
__device__ __forceinline__ void convert_row(const From* from, To* to, int count) {
  const bool from_aligned = is_aligned(from);
  const bool to_aligned = is_aligned(to);
  const int step = blockDim.x * kAtOnce;
  for (int i = threadIdx.x * kAtOnce; i < count; i += step) {
    float value[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; k += kPack<From>) {
      const Pack<From> pack = load_pack(from + i + k, from_aligned, count - i - k);
#pragma unroll
      for (int j = 0; j < kPack<From>; ++j) value[k + j] = pack.value[j];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; k += kPack<To>) {
      Pack<To> pack;
#pragma unroll
      for (int j = 0; j < kPack<To>; ++j) pack.value[j] = value[k + j];
      store_pack(to + i + k, pack, to_aligned, count - i - k);
    }
  }
}

template <typename From, typename To>
__device__ __forceinline__ void embedding(const EmbeddingParams& p) {
  const int64_t token = blockIdx.x;
  const From* row = row_of<From>(p, token);
  To* y = static_cast<To*>(p.y) + token * p.hidden;
  if (row == nullptr) {
    clear_row(y, p.hidden);
  } else if constexpr (sizeof(From) == sizeof(To)) {
    copy_row(row, y, p.hidden);
  } else {
    convert_row(row, y, p.hidden);
  }
}

}  // namespace
}  // namespace dense_kernels::cuda

using dense_kernels::cuda::Bf16;

extern "C" __global__ void __launch_bounds__(256)
    embedding_bf16(__grid_constant__ const EmbeddingParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::embedding<Bf16, Bf16>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    embedding_f32(__grid_constant__ const EmbeddingParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::embedding<float, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    embedding_bf16_to_f32(__grid_constant__ const EmbeddingParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::embedding<Bf16, float>(p);
}

extern "C" __global__ void __launch_bounds__(256)
    embedding_f32_to_bf16(__grid_constant__ const EmbeddingParams p) {
  dense_kernels::cuda::wait_and_trigger();
  dense_kernels::cuda::embedding<float, Bf16>(p);
}
