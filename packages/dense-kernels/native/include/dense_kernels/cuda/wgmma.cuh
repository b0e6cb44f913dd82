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

// Sixteen sums from `i` on, as names and as operands.
#define DENSE_KERNELS_NAMES_0 \
  "%0, %1, %2, %3, %4, %5, %6, %7, " \
  "%8, %9, %10, %11, %12, %13, %14, %15"
#define DENSE_KERNELS_NAMES_16 \
  "%16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define DENSE_KERNELS_NAMES_32 \
  "%32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47"
#define DENSE_KERNELS_NAMES_48 \
  "%48, %49, %50, %51, %52, %53, %54, %55, " \
  "%56, %57, %58, %59, %60, %61, %62, %63"
#define DENSE_KERNELS_SUMS(i)                                                            \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),            \
      "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]),    \
      "+f"(d[i + 10]), "+f"(d[i + 11]), "+f"(d[i + 12]), "+f"(d[i + 13]), "+f"(d[i + 14]), \
      "+f"(d[i + 15])

// `rows` of b, the names of the sums, of the four words of a, of b and of `adds`; then the sums.
#define DENSE_KERNELS_WGMMA(rows, sums, a0, a1, a2, a3, b_name, adds_name, ...)             \
  asm volatile(                                                                             \
      "{\n.reg .pred p;\nsetp.ne.b32 p, " adds_name ", 0;\n"                               \
      "wgmma.mma_async.sync.aligned.m64n" rows "k16.f32.bf16.bf16 {" sums "}, {" a0 ", " a1 \
      ", " a2 ", " a3 "}, " b_name ", p, 1, 1, 0;\n}\n"                                     \
      : __VA_ARGS__                                                                         \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds))

// One step of 16 columns for 64 rows of a and kRows rows of b; the sums begin anew unless `adds`.
template <int kRows>
__device__ __forceinline__ void wgmma(float (&d)[kRows / 2], const uint32_t* a, uint64_t b,
                                      int32_t adds) {
  static_assert(kRows == 32 || kRows == 64 || kRows == 96 || kRows == 128);
  if constexpr (kRows == 32) {
    DENSE_KERNELS_WGMMA("32", DENSE_KERNELS_NAMES_0, "%16", "%17", "%18", "%19", "%20", "%21",
                        DENSE_KERNELS_SUMS(0));
  } else if constexpr (kRows == 64) {
    DENSE_KERNELS_WGMMA("64", DENSE_KERNELS_NAMES_0 ", " DENSE_KERNELS_NAMES_16, "%32", "%33",
                        "%34", "%35", "%36", "%37", DENSE_KERNELS_SUMS(0), DENSE_KERNELS_SUMS(16));
  } else if constexpr (kRows == 96) {
    DENSE_KERNELS_WGMMA(
        "96", DENSE_KERNELS_NAMES_0 ", " DENSE_KERNELS_NAMES_16 ", " DENSE_KERNELS_NAMES_32, "%48",
        "%49", "%50", "%51", "%52", "%53", DENSE_KERNELS_SUMS(0), DENSE_KERNELS_SUMS(16),
        DENSE_KERNELS_SUMS(32));
  } else {
    DENSE_KERNELS_WGMMA("128",
                        DENSE_KERNELS_NAMES_0 ", " DENSE_KERNELS_NAMES_16
                                              ", " DENSE_KERNELS_NAMES_32
                                              ", " DENSE_KERNELS_NAMES_48,
                        "%64", "%65", "%66", "%67", "%68", "%69", DENSE_KERNELS_SUMS(0),
                        DENSE_KERNELS_SUMS(16), DENSE_KERNELS_SUMS(32), DENSE_KERNELS_SUMS(48));
  }
}

#undef DENSE_KERNELS_WGMMA
#undef DENSE_KERNELS_SUMS
#undef DENSE_KERNELS_NAMES_48
#undef DENSE_KERNELS_NAMES_32
#undef DENSE_KERNELS_NAMES_16
#undef DENSE_KERNELS_NAMES_0

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace dense_kernels::cuda

#endif
