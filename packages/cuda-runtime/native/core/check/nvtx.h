// Ranges for tools such as Nsight Systems, in the domain `cuda-runtime`. NVTX is headers only: it
// looks for a tool once, and without one, or built without its headers, nothing happens.
#pragma once

namespace cuda_runtime::core {

/// Whether a tool listens. The first call looks for one.
bool nvtx_is_on();
/// Begins a range of this thread.
void nvtx_push(const char* name);
/// Ends the innermost range of this thread.
void nvtx_pop();

}  // namespace cuda_runtime::core
