// A graph made ready to run on the CPU: successor lists and counts are fixed, the counters of the
// run are reset at each launch. What the nodes do is the launch's business. Launches of one plan
// never overlap, so that one set of counters is enough. Bodies of conditional nodes are plans of
// their own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/graph/exec.h"
#include "cpu/operation.h"

namespace cuda_runtime::cpu {

/// A node and where its successors begin in the plan's list.
struct PlanNode {
  uint32_t first_successor = 0;
  uint32_t successors = 0;
  uint32_t start_count = 0;   // predecessors that must complete, trigger or start
  uint32_t finish_count = 1;  // itself and programmatic predecessors
  bool has_programmatic = false;
  bool has_launch_edges = false;  // a successor may start when this one has
  uint32_t first_body = 0;        // conditional nodes: place in GraphPlan::bodies
};

struct PlanSuccessor {
  uint32_t node = 0;
  core::EdgePort port = core::EdgePort::kCompletion;
};

/// The counters of one node in the running launch.
struct NodeRun {
  std::atomic<uint32_t> start{0};
  std::atomic<uint32_t> finish{0};
  std::atomic<bool> triggered{false};
  std::atomic<int64_t> ready_ns{0};  // virtual clock, as for operations
  std::atomic<int64_t> end_ns{0};
  Task task;
  NodeRun* next = nullptr;  // in the list of those that finished together
};

class GraphPlan : public core::ExecPlan {
 public:
  /// `parent` is the plan of the node whose body this is, or null.
  GraphPlan(const core::Graph& graph, GraphPlan* parent, uint32_t parent_node);

  /// Resets the counters for the launch of `operation`; `now` is what the nodes do in it.
  void start(Operation& operation, const core::Graph& now);
  const core::GraphNode& node(uint32_t index) const { return graph->nodes()[index]; }
  /// The value that a conditional node of this plan reads.
  uint32_t condition_value(const core::GraphCondition& condition) const;

  GraphPlan* const parent;
  const uint32_t parent_node;
  std::vector<PlanNode> nodes;
  std::vector<PlanSuccessor> successors;
  std::vector<uint32_t> roots;
  // Nodes with external events.
  std::vector<uint32_t> event_waits;
  std::vector<uint32_t> event_records;
  std::vector<std::unique_ptr<GraphPlan>> bodies;

  std::unique_ptr<NodeRun[]> runs;
  std::atomic<uint32_t> remaining{0};
  std::atomic<int64_t> end_ns{0};  // virtual clock: the latest end of a node
  const core::Graph* graph = nullptr;  // of the running launch, which keeps it
  Operation* launch = nullptr;         // the running one

 private:
  void connect(const core::Graph& source);
  void make_conditions(const core::Graph& source);

  // Of the plan without a parent: kernels get the addresses.
  std::unique_ptr<std::atomic<uint32_t>[]> conditions_;
};

}  // namespace cuda_runtime::cpu
