// Graphs made and described node by node, through the raw CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace conformance {

using Nodes = std::vector<cudaGraphNode_t>;

/// `ok nodes/edges`
std::string shape_of(cudaGraph_t graph);
/// Kinds of all nodes in their order, e.g. `kernel fill`.
std::string kinds_of(cudaGraph_t graph);
/// Annotations of all edges, e.g. `programmatic 1, full 0`.
std::string edges_of(cudaGraph_t graph);

cudaGraph_t make_graph();
cudaGraphNode_t add_empty(cudaGraph_t graph, const Nodes& after = {});
cudaKernelNodeParams kernel_params(cudaKernel_t kernel, void** arguments, unsigned blocks = 1);
cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaKernelNodeParams& params,
                           const Nodes& after = {});
cudaMemsetParams fill_params(void* to, unsigned byte, size_t bytes);
cudaGraphNode_t add_fill(cudaGraph_t graph, const cudaMemsetParams& params,
                         const Nodes& after = {});
cudaGraphNode_t add_host(cudaGraph_t graph, cudaHostFn_t function, void* data,
                         const Nodes& after = {});
cudaMemAllocNodeParams alloc_params(size_t bytes);
cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to);
/// An executable, or null when it cannot be made.
cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags = 0);

}  // namespace conformance
