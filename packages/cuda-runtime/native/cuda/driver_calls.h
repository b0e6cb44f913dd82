// The driver's own functions, found through the runtime library: nothing links against libcuda.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cuda_runtime::cuda {

/// Those that are used; null where `error` is not success.
struct DriverCalls {
  CUresult (*launch)(const CUlaunchConfig*, CUfunction, void**, void**) = nullptr;
  CUresult (*function)(CUfunction*, CUkernel) = nullptr;
  CUresult (*add_kernel)(CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                         const CUDA_KERNEL_NODE_PARAMS_v2*) = nullptr;
  CUresult (*set_kernel)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2*) = nullptr;
  CUresult (*launch_graph)(CUgraphExec, CUstream) = nullptr;
  cudaError_t error = cudaSuccess;
};

/// Looked up once.
const DriverCalls& driver_calls();

/// The two libraries number errors alike.
inline cudaError_t as_error(CUresult result) { return static_cast<cudaError_t>(result); }

}  // namespace cuda_runtime::cuda
