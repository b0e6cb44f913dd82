// A graph as JSON: the same text for the same graph on every backend.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// Nodes and edges, children and bodies nested in their nodes.
std::string graph_json(const Graph& graph);
/// One node of it.
std::string node_json(const Graph& graph, uint32_t node);

}  // namespace cuda_runtime::core
