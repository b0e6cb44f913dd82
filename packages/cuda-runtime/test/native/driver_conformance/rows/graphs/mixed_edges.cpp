// CG17: edges of two kinds, added by one call.
#include <vector>

#include "harness/graphs.h"
#include "rows/rows.h"
#include "test_kernels/pdl.h"

namespace conformance {
namespace {

cudaGraphNode_t add_pdl(Scene& s, cudaGraph_t graph, cudaKernel_t kernel) {
  PdlParams params = {};
  params.x = s.counters;
  params.y = s.counters + 1;
  void* arguments[] = {&params};
  return add_kernel(graph, kernel_params(kernel, arguments));
}

cudaGraphEdgeData edge(bool is_full) {
  cudaGraphEdgeData data = {};
  if (is_full) return data;
  data.type = cudaGraphDependencyTypeProgrammatic;
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  return data;
}

}  // namespace

void mixed_edges(Scene& s) {
  constexpr int kPairs = 4;
  const cudaGraph_t graph = make_graph();
  Nodes nodes;
  for (int pair = 0; pair < kPairs; ++pair) {
    nodes.push_back(add_pdl(s, graph, s.kernels.pdl_first));
    nodes.push_back(add_pdl(s, graph, s.kernels.pdl_second));
  }
  // Within the pairs of alternating kinds, between them full.
  bool is_full = s.is("a full one first");
  std::vector<cudaGraphEdgeData> edges;
  for (size_t to = 1; to < nodes.size(); ++to) {
    const bool is_within = to % 2 == 1;
    edges.push_back(edge(!is_within || is_full));
    if (is_within) is_full = !is_full;
  }
  s.put("call", cudaGraphAddDependencies(graph, nodes.data(), nodes.data() + 1, edges.data(),
                                         edges.size()));
  s.put("edges", edges_of(graph));
}

}  // namespace conformance
