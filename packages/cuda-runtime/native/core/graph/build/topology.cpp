#include "core/graph/build/topology.h"

#include <functional>
#include <queue>

namespace cuda_runtime::core {

std::vector<uint32_t> topological_order(const std::vector<GraphNode>& nodes) {
  std::vector<uint32_t> missing(nodes.size());
  std::vector<std::vector<uint32_t>> successors(nodes.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    missing[i] = static_cast<uint32_t>(nodes[i].dependencies.size());
    if (missing[i] == 0) ready.push(i);
    for (const GraphDependency& dependency : nodes[i].dependencies) {
      successors[dependency.node].push_back(i);
    }
  }
  std::vector<uint32_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const uint32_t next : successors[node]) {
      if (--missing[next] == 0) ready.push(next);
    }
  }
  return order;
}

bool reaches(const std::vector<GraphNode>& nodes, uint32_t from, uint32_t to) {
  std::vector<bool> seen(nodes.size());
  std::vector<uint32_t> open{to};
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    if (node == from) return true;
    if (seen[node]) continue;
    seen[node] = true;
    for (const GraphDependency& dependency : nodes[node].dependencies) {
      open.push_back(dependency.node);
    }
  }
  return false;
}

}  // namespace cuda_runtime::core
