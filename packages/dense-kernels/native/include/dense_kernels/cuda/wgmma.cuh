// Matrix products of a warpgroup on Hopper: a from registers, b from shared memory, sums in
// registers. They run while the warps go on; nothing of theirs may be touched until they are waited
// for.
//
// d[64, N] += a[64, 16] * b[N, 16], fp32 accumulation. Warp w of the four has rows 16w and on, and
// each holds a and d as of mma_bf16 (mma.cuh), d for 8 rows of b after the other:
//   d[4 n + i] = D[i] of rows 8n … 8n + 7 of b
//
// b is rows of 64 columns, 128 bytes, whose eight chunks of 16 bytes are swizzled: chunk c of row r
// lies at 128 r + 16 (c ^ r % 8). Rows begin at a multiple of 1024 bytes. Step s takes chunks 2s
// and 2s + 1.
#ifndef DENSE_KERNELS_CUDA_WGMMA_CUH
#define DENSE_KERNELS_CUDA_WGMMA_CUH

#include <stdint.h>

#include "dense_kernels/cuda/mma.cuh"

namespace dense_kernels::cuda {

constexpr int kWgmmaRowBytes = 128;
constexpr int kWgmmaAlign = 1024;
constexpr int kWgmmaSums = 64;  // of a thread, for 128 rows of b

// Where chunk `chunk` of row `row` of b lies.
__device__ __forceinline__ int wgmma_chunk(int row, int chunk) {
  return row * kWgmmaRowBytes + ((chunk ^ row % 8) << 4);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Names b for step 0; the next step's is 2 more.
__device__ __forceinline__ uint64_t wgmma_rows(const void* rows) {
  constexpr uint64_t kSwizzled = uint64_t{1} << 62;  // in 128 bytes
  constexpr uint64_t kEightRows = uint64_t{1024 >> 4} << 32;
  return kSwizzled | kEightRows | uint64_t{1} << 16 | (shared_address(rows) >> 4 & 0x3fff);
}

// Before products read what this thread has copied to shared memory.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Before products read registers that were written.
__device__ __forceinline__ void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Keeps registers where they are: what was read or written before this line is not moved behind it,
// nor the other way round.
template <int kCount>
__device__ __forceinline__ void pin(float (&value)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(value[i])::"memory");
}
template <int kCount>
__device__ __forceinline__ void pin(uint32_t (&value)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(value[i])::"memory");
}

// One step of 16 columns for 64 rows of a and 128 rows of b; the sums begin anew unless `adds`.
__device__ __forceinline__ void wgmma_64x128(float (&d)[kWgmmaSums], const uint32_t* a, uint64_t b,
                                             int32_t adds) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]),
        "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
        "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
        "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]),
        "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]),
        "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]),
        "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace dense_kernels::cuda

#endif
