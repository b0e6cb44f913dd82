#include "cpu/plan.h"

namespace cuda_runtime::cpu {

GraphPlan::GraphPlan(const core::Graph& source)
    : graph(source), nodes(source.nodes().size()), runs(new NodeRun[source.nodes().size()]) {
  std::vector<std::vector<PlanSuccessor>> lists(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const core::GraphNode& node = graph.nodes()[i];
    nodes[i].work = node.work.get();
    nodes[i].start_count = static_cast<uint32_t>(node.dependencies.size());
    if (node.dependencies.empty()) roots.push_back(i);
    if (node.work->kind == core::WorkKind::kEventWait) event_waits.push_back(i);
    if (node.work->kind == core::WorkKind::kEventRecord) event_records.push_back(i);
    for (const core::GraphDependency& dependency : node.dependencies) {
      const bool programmatic = dependency.type == core::EdgeType::kProgrammatic;
      lists[dependency.node].push_back({i, programmatic});
      nodes[dependency.node].has_programmatic |= programmatic;
      if (programmatic) ++nodes[i].finish_count;
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].first_successor = static_cast<uint32_t>(successors.size());
    nodes[i].successors = static_cast<uint32_t>(lists[i].size());
    successors.insert(successors.end(), lists[i].begin(), lists[i].end());
  }
}

void GraphPlan::start(Operation& operation) {
  launch = &operation;
  for (size_t i = 0; i < nodes.size(); ++i) {
    runs[i].start.store(nodes[i].start_count, std::memory_order_relaxed);
    runs[i].finish.store(nodes[i].finish_count, std::memory_order_relaxed);
    runs[i].triggered.store(false, std::memory_order_relaxed);
  }
  for (const ExternalWait& wait : operation.launch->waits) {
    runs[wait.node].start.fetch_add(1, std::memory_order_relaxed);
  }
  // One more for the start itself: the launch stays alive until its roots are handed out.
  remaining.store(static_cast<uint32_t>(nodes.size()) + 1, std::memory_order_release);
}

}  // namespace cuda_runtime::cpu
