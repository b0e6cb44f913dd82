#include "core/graph/build/flatten.h"

#include <algorithm>

#include "core/graph/build/topology.h"
#include "core/graph/nodes/condition.h"

namespace cuda_runtime::core {
namespace {

Status invalid(std::string detail, std::string hint) {
  return Status::error("CRT_GRAPH_INVALID", kInvalidValue, std::move(detail), std::move(hint));
}

/// Nodes that no other depends on, among those from `first` on.
std::vector<GraphDependency> last_nodes(const std::vector<GraphNode>& nodes, uint32_t first) {
  std::vector<bool> has_successor(nodes.size());
  for (size_t i = first; i < nodes.size(); ++i) {
    for (const GraphDependency& dependency : nodes[i].dependencies) {
      has_successor[dependency.node] = true;
    }
  }
  std::vector<GraphDependency> last;
  for (uint32_t i = first; i < nodes.size(); ++i) {
    if (!has_successor[i]) last.push_back({i});
  }
  return last;
}

/// Puts the nodes of a child behind the others and lets `node` wait for them.
void inline_child(std::vector<GraphNode>& nodes, uint32_t node, const Graph& child) {
  const auto first = static_cast<uint32_t>(nodes.size());
  const std::vector<GraphDependency> before = nodes[node].dependencies;
  for (const GraphNode& inner : child.nodes()) {
    nodes.push_back(inner);
    nodes.back().child_of = node;
    std::vector<GraphDependency>& dependencies = nodes.back().dependencies;
    for (GraphDependency& dependency : dependencies) dependency.node += first;
    if (dependencies.empty()) dependencies = before;
  }
  nodes[node].work = make_ref<Work>(WorkKind::kEmpty);
  if (nodes.size() > first) nodes[node].dependencies = last_nodes(nodes, first);
}

bool fits_body(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
    case WorkKind::kCopy:
    case WorkKind::kFill:
    case WorkKind::kEmpty:
    case WorkKind::kConditional:
      return true;
    default:
      return false;
  }
}

Status check_body(const Graph& body) {
  for (const GraphNode& node : body.nodes()) {
    if (fits_body(node.work->kind)) continue;
    return invalid(std::string("a body of a conditional node contains a node of kind ") +
                       work_kind_name(node.work->kind),
                   "Use kernels, copies, fills, empty nodes, child graphs and conditional nodes");
  }
  return {};
}

Status flatten_bodies(GraphNode& node) {
  auto work = make_ref<Work>(WorkKind::kConditional);
  work->conditional = make_ref<Conditional>();
  work->conditional->condition = node.work->conditional->condition;
  work->conditional->type = node.work->conditional->type;
  work->conditional->bodies = node.work->conditional->bodies;
  for (Ref<Graph>& body : work->conditional->bodies) {
    Ref<Graph> flat;
    Status status = flatten(*body, flat);
    if (status.ok()) status = check_body(*flat);
    if (!status.ok()) return status;
    body = std::move(flat);
  }
  node.work = std::move(work);
  return {};
}

}  // namespace

Status flatten(const Graph& source, Ref<Graph>& result) {
  Status status = source.check_usable();
  if (!status.ok()) return status;
  Ref<Graph> flat = source.snapshot();
  std::vector<GraphNode> nodes = flat->take_nodes();
  // Grows while it runs: children of children follow behind.
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].work->kind == WorkKind::kChild) {
      const Ref<Graph> child = nodes[i].work->child;
      inline_child(nodes, i, *child);
    } else if (nodes[i].work->kind == WorkKind::kConditional) {
      status = flatten_bodies(nodes[i]);
      if (!status.ok()) return status;
    }
  }
  for (const Ref<GraphCondition>& condition : flat->conditions()) {
    if (condition->has_node) continue;
    return invalid("condition " + std::to_string(condition->index) + " has no node that reads it",
                   "Add a conditional node for it");
  }
  if (topological_order(nodes).size() != nodes.size()) {
    return invalid("the edges of the graph close a cycle", "Remove one of them");
  }
  flat->put_nodes(std::move(nodes));
  result = std::move(flat);
  return {};
}

}  // namespace cuda_runtime::core
