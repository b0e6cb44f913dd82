/* C ABI between cuda-runtime and the CPU kernels of kernel packages.
 *
 * A CPU kernel is `extern "C" void name(const NameParams* p, const CpuContext* context)`. It runs
 * the whole grid; it neither allocates, locks, throws nor calls the runtime except through the
 * context. Versioned: a library built for a newer CRT_ABI_VERSION, or for one before
 * CRT_ABI_OLDEST, is refused at load.
 */
#ifndef CUDA_RUNTIME_ABI_H
#define CUDA_RUNTIME_ABI_H

#include <stdint.h>

#define CRT_ABI_VERSION 2u
/* The oldest version whose libraries still run: later ones only added to the end of CpuContext. */
#define CRT_ABI_OLDEST 1u

/* Instruction-set level chosen by the runtime once for the process; a kernel takes the highest
 * implementation it has that is not above it. */
typedef enum CpuLevel {
  kCpuBaseline = 0, /* x86-64 (SSE2) or any other architecture */
  kCpuAvx2 = 1,     /* AVX2 + FMA + F16C */
  kCpuAvx512 = 2,   /* AVX-512 F, BW, DQ, VL, VBMI + BF16 */
  kCpuAmx = 3       /* kCpuAvx512 + AMX-TILE, AMX-BF16 with permission granted */
} CpuLevel;

/* A piece [begin, end) of a parallel loop. Pieces may run in any order on any thread. */
typedef void (*CpuLoopBody)(void* argument, int64_t begin, int64_t end);

typedef struct CpuContext {
  uint32_t abi;     /* CRT_ABI_VERSION */
  uint32_t level;   /* a CpuLevel */
  uint32_t threads; /* threads that parallel_for may use, >= 1 */
  uint32_t reserved;
  void* state; /* the runtime's own; kernels only pass the context back */

  /* Runs body over [0, count) in pieces of at least `grain` items, on the backend's pool and the
   * calling thread; returns when all pieces are done. How the range is cut never depends on timing,
   * only on (count, grain, threads). May not be nested. */
  void (*parallel_for)(const struct CpuContext* context, int64_t count, int64_t grain,
                       CpuLoopBody body, void* argument);

  /* Programmatic dependent launch: lets dependents start; waits for all predecessors' writes. */
  void (*trigger)(const struct CpuContext* context);
  void (*grid_dependency_sync)(const struct CpuContext* context);

  /* Since 2: the value that conditional nodes of the running graph will read. `handle` is the field
   * of the parameter struct that was given a condition; cudaGraphSetConditional of CUDA. Any other
   * value loses the device with 700. */
  void (*set_conditional)(const struct CpuContext* context, uint64_t handle, uint32_t value);
} CpuContext;

#endif
