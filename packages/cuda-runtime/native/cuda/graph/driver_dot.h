// The driver's own picture of a graph that it was given.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cuda/device/device.h"

namespace cuda_runtime::cuda {

/// Graphviz text, `verbose` with all that the driver knows. It can only write files, so one is made
/// and removed.
core::Status print_dot(Device& device, cudaGraph_t graph, bool verbose, std::string& text);

}  // namespace cuda_runtime::cuda
