// Orders of a graph's nodes.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// Every node after all that it depends on; equal choices by index. Shorter than the nodes when
/// edges close a cycle.
std::vector<uint32_t> topological_order(const std::vector<GraphNode>& nodes);

/// Whether a path of edges leads from one node to another.
bool reaches(const std::vector<GraphNode>& nodes, uint32_t from, uint32_t to);

}  // namespace cuda_runtime::core
