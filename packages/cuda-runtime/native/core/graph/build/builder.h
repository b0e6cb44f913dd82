// Adding nodes and edges to a graph by hand. A graph is changed by one thread at a time; whatever
// is refused changes nothing.
#pragma once

#include <vector>

#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/graph_buffer.h"

namespace cuda_runtime::core {

/// Nodes that the new one depends on; none twice (CG02).
using After = std::vector<uint32_t>;

/// A node that does `work`.
Status add_node(Graph& graph, Ref<Work> work, const After& after, uint32_t& node);
/// An edge; refused when it closes a cycle, exists already, or joins what it cannot (CG01, CG02,
/// CP05, CP08).
Status add_dependency(Graph& graph, uint32_t from, const GraphDependency& how, uint32_t to);

/// A copy of `child` as one node (CG11, CG12, CM01).
Status add_child(Graph& graph, const Graph& child, const After& after, uint32_t& node);

/// What a conditional node is to be.
struct ConditionalRequest {
  Ref<GraphCondition> condition;
  ConditionalType type = ConditionalType::kIf;
  uint32_t bodies = 1;
};

/// A conditional node with empty bodies, to be filled before the graph is instantiated.
Status add_conditional(Graph& graph, const ConditionalRequest& request, const After& after,
                       uint32_t& node, std::vector<Ref<Graph>>& bodies);

/// Memory that begins at the node.
Status add_alloc(Graph& graph, uint64_t bytes, const std::string& label, const After& after,
                 uint32_t& node, Ref<GraphBuffer>& buffer);
/// Memory of an allocation node, of this graph or another, ends at the node (CM06, CM07).
Status add_free(Graph& graph, const Ref<Buffer>& buffer, const After& after, uint32_t& node);

/// What the nodes do; `make_free` refuses other memory and the second free.
Ref<Work> make_alloc(const Ref<GraphBuffer>& buffer);
Status make_free(Runtime& runtime, const Ref<Buffer>& buffer, Ref<Work>& work);

/// The same nodes in a graph of its own (CG14, CM01, CP10).
Status clone_graph(const Graph& graph, Ref<Graph>& clone);

/// Whether a node of the graph may do the work: its conditions are the graph's.
Status check_work(const Graph& graph, const Work& work);

}  // namespace cuda_runtime::core
