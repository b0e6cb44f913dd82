#include "cuda/name_stream.h"

#ifdef CRT_WITH_NVTX
#include <nvtx3/nvToolsExtCudaRt.h>
#endif

namespace cuda_runtime::cuda {

#ifdef CRT_WITH_NVTX
void name_stream(cudaStream_t stream, const char* name) { nvtxNameCudaStreamA(stream, name); }
#else
void name_stream(cudaStream_t, const char*) {}
#endif

}  // namespace cuda_runtime::cuda
