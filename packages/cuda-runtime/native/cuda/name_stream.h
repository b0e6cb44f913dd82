// Names of streams for tools such as Nsight Systems.
#pragma once

#include <cuda_runtime_api.h>

namespace cuda_runtime::cuda {

/// Nothing happens without a tool, or built without NVTX.
void name_stream(cudaStream_t stream, const char* name);

}  // namespace cuda_runtime::cuda
