#include <algorithm>
#include <tuple>

#include "core/graph/update/update_report.h"

namespace cuda_runtime::core {
namespace {

UpdateReport differs(UpdateResult result, uint32_t node, std::string detail) {
  UpdateReport report;
  report.result = result;
  report.node = node;
  report.detail = std::move(detail);
  return report;
}

std::string kinds(const Work& before, const Work& after) {
  return std::string("is of kind ") + work_kind_name(after.kind) + ", was " +
         work_kind_name(before.kind);
}

bool is_host(const Access& access) { return access.buffer->kind() == Kind::kHostBuffer; }

/// What the driver fixes when it instantiates.
bool same_attributes(const LaunchConfig& before, const LaunchConfig& after) {
  constexpr uint32_t kFixed = kCooperative | kClusterGiven | kPriorityGiven;
  const auto fixed = [](const LaunchConfig& config) {
    const bool clusters = (config.flags & kClusterGiven) != 0;
    const Dim3 cluster = clusters ? config.cluster : Dim3{};
    const int32_t priority = (config.flags & kPriorityGiven) != 0 ? config.priority : 0;
    return std::make_tuple(config.flags & kFixed, cluster.x, cluster.y, cluster.z, priority);
  };
  return fixed(before) == fixed(after);
}

/// The same edges, in any order; the other end of one that is not there on the other side.
bool same_edges(const std::vector<GraphDependency>& before,
                const std::vector<GraphDependency>& after, uint32_t& from) {
  const auto lacks = [&](const std::vector<GraphDependency>& some,
                         const std::vector<GraphDependency>& others) {
    for (const GraphDependency& edge : some) {
      if (std::find(others.begin(), others.end(), edge) != others.end()) continue;
      from = edge.node;
      return true;
    }
    return false;
  };
  return !lacks(after, before) && !lacks(before, after);
}

}  // namespace

UpdateResult check_replaceable(const Work& before, const Work& after, std::string& why) {
  if (before.kind != after.kind) {
    why = kinds(before, after);
    return UpdateResult::kKindChanged;
  }
  if (after.kind == WorkKind::kKernel && !same_attributes(before.config, after.config)) {
    why = "has another cluster, priority or is cooperative where it was not";
    return UpdateResult::kAttributesChanged;
  }
  const bool moves = after.kind == WorkKind::kCopy || after.kind == WorkKind::kFill;
  if (moves && (before.bytes == 0) != (after.bytes == 0)) {
    why = "has no bytes where it had some, or some where it had none";
    return UpdateResult::kParametersChanged;
  }
  if (after.kind == WorkKind::kCopy &&
      (is_host(before.accesses[0]) != is_host(after.accesses[0]) ||
       is_host(before.accesses[1]) != is_host(after.accesses[1]))) {
    why = "copies between host and device in another direction";
    return UpdateResult::kParametersChanged;
  }
  return UpdateResult::kSuccess;
}

UpdateReport compare(const Graph& before, const Graph& after) {
  const std::vector<GraphNode>& old_nodes = before.nodes();
  const std::vector<GraphNode>& new_nodes = after.nodes();
  if (old_nodes.size() != new_nodes.size()) {
    return differs(UpdateResult::kTopologyChanged, kNoNode,
                   "the graph has " + std::to_string(new_nodes.size()) + " nodes, was " +
                       std::to_string(old_nodes.size()));
  }
  for (uint32_t i = 0; i < new_nodes.size(); ++i) {
    const Work& old_work = *old_nodes[i].work;
    const Work& new_work = *new_nodes[i].work;
    if (old_work.kind != new_work.kind) {
      return differs(UpdateResult::kKindChanged, i, kinds(old_work, new_work));
    }
    const WorkKind kind = new_work.kind;
    if (kind == WorkKind::kConditional || kind == WorkKind::kAlloc || kind == WorkKind::kFree) {
      return differs(UpdateResult::kNotSupported, i,
                     std::string("is of kind ") + work_kind_name(kind) + ", which no update changes");
    }
  }
  for (uint32_t i = 0; i < new_nodes.size(); ++i) {
    uint32_t from = kNoNode;
    if (!same_edges(old_nodes[i].dependencies, new_nodes[i].dependencies, from)) {
      UpdateReport report = differs(UpdateResult::kTopologyChanged, i, "has other edges than before");
      report.from_node = from;
      return report;
    }
    std::string why;
    const UpdateResult result = check_replaceable(*old_nodes[i].work, *new_nodes[i].work, why);
    if (result != UpdateResult::kSuccess) return differs(result, i, why);
  }
  return {};
}

}  // namespace cuda_runtime::core
