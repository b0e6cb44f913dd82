// Programmatic dependent launch. Both are no-ops in a launch without the attribute and before
// sm_90.
#ifndef DENSE_KERNELS_CUDA_PDL_CUH
#define DENSE_KERNELS_CUDA_PDL_CUH

namespace dense_kernels::cuda {

// Returns when all predecessors are done and their writes are visible. Before it a kernel reads
// nothing that a predecessor writes, unless its caller knows that one to be complete (finalize's
// `settled`), and writes nothing that one reads.
__device__ __forceinline__ void wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets dependents start once every block has come here or has ended; after wait_for_predecessors.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Asks for the line of an address that no predecessor writes, before waiting for them.
__device__ __forceinline__ void prefetch(const void* address) {
  asm volatile("prefetch.global.L1 [%0];" ::"l"(address));
}

// How a kernel without weights to ask for begins: in this order, so that who has waited for its
// predecessor has waited for all before.
__device__ __forceinline__ void wait_and_trigger() {
  wait_for_predecessors();
  launch_dependents();
}

}  // namespace dense_kernels::cuda

#endif
