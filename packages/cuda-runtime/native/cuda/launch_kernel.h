// One piece of work handed to the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "core/base/status.h"
#include "core/work.h"

namespace cuda_runtime::cuda {

/// Events that a launch records itself, or null.
struct LaunchMarks {
  cudaEvent_t triggered = nullptr;
  bool at_block_start = false;
  cudaEvent_t started = nullptr;
};

/// The launch attributes of a configuration; `values` has room for all of them.
struct LaunchAttributes {
  explicit LaunchAttributes(const core::LaunchConfig& config, bool with_programmatic);
  void add(const LaunchMarks& marks);
  CUlaunchAttribute values[6];
  unsigned count = 0;
};

/// The kernel as a function of the current context.
core::Status function_of(cudaKernel_t kernel, CUfunction& function);

/// Starts the kernel. `params` is its parameter struct, read before the return.
cudaError_t launch_kernel(const core::Work& work, cudaStream_t stream, const LaunchMarks& marks);

/// The same without marks, on a stream of default priority: often by the kernel's own graphs.
cudaError_t launch_plain_kernel(const core::Work& work, cudaStream_t stream);

/// Runs the work's host function on the driver's callback thread, in stream order. The work must
/// live until then.
cudaError_t call_host(const core::Work& work, cudaStream_t stream);
/// The same for a node.
void CUDART_CB run_host(void* work);

/// Copies or fills; nothing is asked of the driver for zero bytes.
cudaError_t move_bytes(const core::Work& work, void* to, const void* from, cudaStream_t stream);

}  // namespace cuda_runtime::cuda
