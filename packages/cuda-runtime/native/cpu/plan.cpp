#include "cpu/plan.h"

#include <algorithm>

#include "core/graph/nodes/condition.h"

namespace cuda_runtime::cpu {

using core::EdgePort;
using core::WorkKind;

GraphPlan::GraphPlan(const core::Graph& source, GraphPlan* parent_plan, uint32_t node_of_parent)
    : parent(parent_plan),
      parent_node(node_of_parent),
      nodes(source.nodes().size()),
      runs(new NodeRun[source.nodes().size()]) {
  connect(source);
  if (parent == nullptr) make_conditions(source);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const core::Work& work = *source.nodes()[i].work;
    if (work.kind == WorkKind::kEventWait) event_waits.push_back(i);
    if (work.kind == WorkKind::kEventRecord) event_records.push_back(i);
    if (work.kind != WorkKind::kConditional) continue;
    nodes[i].first_body = static_cast<uint32_t>(bodies.size());
    for (const core::Ref<core::Graph>& body : work.conditional->bodies) {
      bodies.push_back(std::make_unique<GraphPlan>(*body, this, i));
    }
  }
}

void GraphPlan::connect(const core::Graph& source) {
  std::vector<std::vector<PlanSuccessor>> lists(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const core::GraphNode& node = source.nodes()[i];
    nodes[i].start_count = static_cast<uint32_t>(node.dependencies.size());
    if (node.dependencies.empty()) roots.push_back(i);
    for (const core::GraphDependency& dependency : node.dependencies) {
      lists[dependency.node].push_back({i, dependency.port});
      PlanNode& before = nodes[dependency.node];
      before.has_programmatic |= dependency.port == EdgePort::kProgrammatic;
      before.has_launch_edges |= dependency.port == EdgePort::kLaunch;
      if (dependency.port == EdgePort::kProgrammatic) ++nodes[i].finish_count;
    }
  }
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].first_successor = static_cast<uint32_t>(successors.size());
    nodes[i].successors = static_cast<uint32_t>(lists[i].size());
    successors.insert(successors.end(), lists[i].begin(), lists[i].end());
  }
}

void GraphPlan::make_conditions(const core::Graph& source) {
  const size_t count = source.conditions().size();
  conditions_ = std::make_unique<std::atomic<uint32_t>[]>(count);
  for (size_t i = 0; i < count; ++i) {
    condition_handles.push_back(reinterpret_cast<uint64_t>(&conditions_[i]));
  }
}

uint32_t GraphPlan::condition_value(const core::GraphCondition& condition) const {
  const GraphPlan* root = this;
  while (root->parent != nullptr) root = root->parent;
  return root->conditions_[condition.index].load(std::memory_order_acquire);
}

void GraphPlan::start(Operation& operation, const core::Graph& now) {
  launch = &operation;
  graph = &now;
  int64_t begin_ns = operation.ready_ns.load(std::memory_order_relaxed);
  if (parent != nullptr) {
    const NodeRun& outer = parent->runs[parent_node];
    begin_ns = std::max(outer.ready_ns.load(), outer.end_ns.load());  // of the turn before
  }
  end_ns.store(begin_ns, std::memory_order_relaxed);
  for (size_t i = 0; i < nodes.size(); ++i) {
    runs[i].start.store(nodes[i].start_count, std::memory_order_relaxed);
    runs[i].finish.store(nodes[i].finish_count, std::memory_order_relaxed);
    runs[i].triggered.store(false, std::memory_order_relaxed);
    runs[i].ready_ns.store(begin_ns, std::memory_order_relaxed);
    runs[i].end_ns.store(begin_ns, std::memory_order_relaxed);
  }
  if (parent == nullptr) {
    for (const core::Ref<core::GraphCondition>& condition : now.conditions()) {
      conditions_[condition->index].store(condition->initial, std::memory_order_relaxed);
    }
    for (const ExternalWait& wait : operation.launch->waits) {
      runs[wait.node].start.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // One more for the start itself: the launch stays alive until its roots are handed out.
  remaining.store(static_cast<uint32_t>(nodes.size()) + 1, std::memory_order_release);
}

}  // namespace cuda_runtime::cpu
