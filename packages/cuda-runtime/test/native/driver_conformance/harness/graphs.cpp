#include "harness/graphs.h"

namespace conformance {
namespace {

const char* kind_of(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  cudaGraphNodeGetType(node, &type);
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "copy";
    case cudaGraphNodeTypeMemset:
      return "fill";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    case cudaGraphNodeTypeWaitEvent:
      return "event-wait";
    case cudaGraphNodeTypeEventRecord:
      return "event-record";
    case cudaGraphNodeTypeMemAlloc:
      return "alloc";
    case cudaGraphNodeTypeMemFree:
      return "free";
    case cudaGraphNodeTypeConditional:
      return "conditional";
    default:
      return "other";
  }
}

Nodes nodes_of(cudaGraph_t graph) {
  size_t count = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  Nodes nodes(count);
  if (count > 0) cudaGraphGetNodes(graph, nodes.data(), &count);
  return nodes;
}

}  // namespace

std::string shape_of(cudaGraph_t graph) {
  size_t nodes = 0;
  size_t edges = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  return "ok " + std::to_string(nodes) + "/" + std::to_string(edges);
}

std::string kinds_of(cudaGraph_t graph) {
  std::string text;
  for (const cudaGraphNode_t node : nodes_of(graph)) {
    text += (text.empty() ? "" : " ") + std::string(kind_of(node));
  }
  return text;
}

std::string edges_of(cudaGraph_t graph) {
  size_t count = 0;
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count);
  Nodes from(count);
  Nodes to(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (count > 0) cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count);
  std::string text;
  // In the order of the nodes they lead to, which is the order of capture.
  for (const cudaGraphNode_t node : nodes_of(graph)) {
    for (size_t i = 0; i < count; ++i) {
      if (to[i] != node) continue;
      const bool is_full = data[i].type == cudaGraphDependencyTypeDefault;
      text += (text.empty() ? "" : ", ") + std::string(is_full ? "full " : "programmatic ") +
              std::to_string(int(data[i].from_port));
    }
  }
  return text;
}

cudaGraph_t make_graph() {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  return graph;
}

cudaGraphNode_t add_empty(cudaGraph_t graph, const Nodes& after) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddEmptyNode(&node, graph, after.data(), after.size());
  return node;
}

cudaKernelNodeParams kernel_params(cudaKernel_t kernel, void** arguments, unsigned blocks) {
  cudaKernelNodeParams params = {};
  params.func = reinterpret_cast<void*>(kernel);
  params.gridDim = dim3(blocks);
  params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaKernelNodeParams& params,
                           const Nodes& after) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params);
  return node;
}

cudaMemsetParams fill_params(void* to, unsigned byte, size_t bytes) {
  cudaMemsetParams params = {};
  params.dst = to;
  params.value = byte;
  params.elementSize = 1;
  params.width = bytes;
  params.height = 1;
  return params;
}

cudaGraphNode_t add_fill(cudaGraph_t graph, const cudaMemsetParams& params, const Nodes& after) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params);
  return node;
}

cudaGraphNode_t add_host(cudaGraph_t graph, cudaHostFn_t function, void* data,
                         const Nodes& after) {
  cudaHostNodeParams params = {};
  params.fn = function;
  params.userData = data;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params);
  return node;
}

cudaMemAllocNodeParams alloc_params(size_t bytes) {
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.poolProps.location.id = 0;
  params.bytesize = bytes;
  return params;
}

cudaError_t add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  return cudaGraphAddDependencies(graph, &from, &to, nullptr, 1);
}

cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags) {
  cudaGraphExec_t executable = nullptr;
  if (cudaGraphInstantiate(&executable, graph, flags) != cudaSuccess) return nullptr;
  return executable;
}

}  // namespace conformance
