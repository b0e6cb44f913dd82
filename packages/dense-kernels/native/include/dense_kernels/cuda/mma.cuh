// bf16 tensor cores of sm_80 and later, and what feeds them: ldmatrix, cp.async.
//
// mma_bf16: d[16, 8] += a[16, 16] * b[16, 8], fp32 accumulation, one warp. With g = lane / 4 and
// q = lane % 4, each word two bf16, the lower index in the low half:
//   a[0] = A[g][2q, 2q+1]      a[1] = A[g+8][2q, 2q+1]      b[0] = B[2q, 2q+1][g]
//   a[2] = A[g][2q+8, 2q+9]    a[3] = A[g+8][2q+8, 2q+9]    b[1] = B[2q+8, 2q+9][g]
//   d[0] = D[g][2q]  d[1] = D[g][2q+1]  d[2] = D[g+8][2q]  d[3] = D[g+8][2q+1]
#ifndef DENSE_KERNELS_CUDA_MMA_CUH
#define DENSE_KERNELS_CUDA_MMA_CUH

#include <stdint.h>

namespace dense_kernels::cuda {

__device__ __forceinline__ void mma_bf16(float (&d)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Four 8 x 8 matrices of 16-bit elements. Lane i names 16 aligned bytes of shared memory: row i % 8
// of matrix i / 8. Word m of lane l is elements (2 (l % 4), + 1) of row l / 4 of matrix m.
__device__ __forceinline__ void load_matrix_x4(uint32_t (&word)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(shared_address(row))
               : "memory");
}

// The same, each matrix transposed.
__device__ __forceinline__ void load_matrix_x4_transposed(uint32_t (&word)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(shared_address(row))
               : "memory");
}

// Copies 16 aligned bytes from global to shared memory in the background; `exists` false writes
// zeros and reads nothing, but `from` must still be a valid address.
__device__ __forceinline__ void copy16_async(void* to, const void* from, bool exists = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(exists ? 16 : 0)
               : "memory");
}

__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `kPending` of this thread's latest groups are still on their way.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace dense_kernels::cuda

#endif
