// Sixteen bytes at a time where the addresses allow it, single elements where not.
//
//   Pack<Bf16> pack = load_pack(row + column, row_is_aligned, hidden - column);  // 8, as fp32
//   pack.value[i] …;
//   store_pack(y + column, pack, y_is_aligned, hidden - column);
#ifndef DENSE_KERNELS_CUDA_VECTOR_CUH
#define DENSE_KERNELS_CUDA_VECTOR_CUH

#include <stdint.h>

#include "dense_kernels/cuda/convert.cuh"

namespace dense_kernels::cuda {

// Elements in 16 bytes: 4 f32, 8 bf16.
template <typename T>
constexpr int kPack = 16 / sizeof(T);

// `kCount` values, widened to fp32.
template <typename T, int kCount = kPack<T>>
struct Pack {
  float value[kCount];
};

__device__ __forceinline__ bool is_aligned(const void* pointer, uint32_t bytes = 16) {
  return (reinterpret_cast<uintptr_t>(pointer) & (bytes - 1)) == 0;
}

// Whether `pointer` and every row, `stride` elements apart, start at a multiple of 16 bytes.
template <typename T>
__device__ __forceinline__ bool rows_are_aligned(const T* pointer, int64_t stride) {
  return is_aligned(pointer) && stride % kPack<T> == 0;
}

// 16 aligned bytes that other threads may also write in this launch, or that will be read again.
__device__ __forceinline__ uint4 load16(const void* from) {
  return *static_cast<const uint4*>(from);
}

// For what is read once in a step: it leaves the second-level cache first, so that the code,
// parameters and activations of the next kernels stay there.
__device__ __forceinline__ uint64_t read_once() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// 16 aligned bytes that nothing writes during the launch and that are read once: weights.
__device__ __forceinline__ uint4 load16_streaming(const void* from) {
  uint4 r;
  // The policy is made here each time: kept, it would take two registers.
  asm volatile(
      "{\n"
      ".reg .b64 policy;\n"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
      "ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], policy;\n"
      "}"
      : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
      : "l"(from));
  return r;
}

// Four bytes, any alignment: `aligned` says whether `from` is a multiple of 4.
__device__ __forceinline__ uint32_t load_bytes4(const uint8_t* from, bool aligned) {
  if (aligned) return *reinterpret_cast<const uint32_t*>(from);
  return from[0] | uint32_t{from[1]} << 8 | uint32_t{from[2]} << 16 | uint32_t{from[3]} << 24;
}

__device__ __forceinline__ void store_bytes4(uint8_t* to, uint32_t word, bool aligned) {
  if (aligned) {
    *reinterpret_cast<uint32_t*>(to) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(word >> (8 * i));
}

__device__ __forceinline__ void store16(void* to, const uint4& word) {
  *static_cast<uint4*>(to) = word;
}

__device__ __forceinline__ Pack<float> unpack(const uint4& word, const float*) {
  return {{__uint_as_float(word.x), __uint_as_float(word.y), __uint_as_float(word.z),
           __uint_as_float(word.w)}};
}

__device__ __forceinline__ Pack<Bf16> unpack(const uint4& word, const Bf16*) {
  return {{bf16x2_low(word.x), bf16x2_high(word.x), bf16x2_low(word.y), bf16x2_high(word.y),
           bf16x2_low(word.z), bf16x2_high(word.z), bf16x2_low(word.w), bf16x2_high(word.w)}};
}

__device__ __forceinline__ uint4 repack(const Pack<float>& pack) {
  const float* v = pack.value;
  return {__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
          __float_as_uint(v[3])};
}

// Rounds each value once.
__device__ __forceinline__ uint4 repack(const Pack<Bf16>& pack) {
  const float* v = pack.value;
  return {f32_to_bf16x2(v[0], v[1]), f32_to_bf16x2(v[2], v[3]), f32_to_bf16x2(v[4], v[5]),
          f32_to_bf16x2(v[6], v[7])};
}

// The values at `from`. `left` counts those that exist; the others are 0 and not read.
template <typename T>
__device__ __forceinline__ Pack<T> load_pack(const T* from, bool aligned, int64_t left) {
  if (aligned && left >= kPack<T>) return unpack(load16(from), from);
  Pack<T> pack;
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) pack.value[i] = i < left ? to_f32(from[i]) : 0.0f;
  return pack;
}

// Rounds to T and writes the first `left` values, all if `left` is larger.
template <typename T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T>& pack, bool aligned,
                                           int64_t left) {
  if (aligned && left >= kPack<T>) {
    store16(to, repack(pack));
    return;
  }
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    if (i < left) to[i] = round_to<T>(pack.value[i]);
  }
}

}  // namespace dense_kernels::cuda

#endif
