// One piece of work handed to the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "core/base/status.h"
#include "core/work.h"

namespace cuda_runtime::cuda {

/// The launch attributes of a configuration; `values` has room for all of them.
struct LaunchAttributes {
  explicit LaunchAttributes(const core::LaunchConfig& config, bool with_programmatic);
  CUlaunchAttribute values[4];
  unsigned count = 0;
};

/// The kernel as a function of the current context.
core::Status function_of(cudaKernel_t kernel, CUfunction& function);

/// Starts the kernel. `params` is its parameter struct, read before the return.
cudaError_t launch_kernel(const core::Work& work, cudaStream_t stream);

/// Runs the work's host function on the driver's callback thread, in stream order. The work must live
/// until then.
cudaError_t call_host(const core::Work& work, cudaStream_t stream);
/// The same for a node.
void CUDART_CB run_host(void* work);

/// Copies or fills; nothing is asked of the driver for zero bytes.
cudaError_t move_bytes(const core::Work& work, void* to, const void* from, cudaStream_t stream);

}  // namespace cuda_runtime::cuda
