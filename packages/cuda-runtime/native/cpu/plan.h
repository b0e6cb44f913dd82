// A graph made ready to run on the CPU: successor lists and counts are fixed, the counters of the
// run are reset at each launch. Launches of one plan never overlap, so that one set is enough.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/graph/exec.h"
#include "cpu/operation.h"

namespace cuda_runtime::cpu {

/// A node and where its successors begin in the plan's list.
struct PlanNode {
  const core::Work* work = nullptr;
  uint32_t first_successor = 0;
  uint32_t successors = 0;
  uint32_t start_count = 0;   // predecessors that must complete or trigger
  uint32_t finish_count = 1;  // itself and programmatic predecessors
  bool has_programmatic = false;
};

struct PlanSuccessor {
  uint32_t node = 0;
  bool programmatic = false;
};

/// The counters of one node in the running launch.
struct NodeRun {
  std::atomic<uint32_t> start{0};
  std::atomic<uint32_t> finish{0};
  std::atomic<bool> triggered{false};
  Task task;
  NodeRun* next = nullptr;  // in the list of those that finished together
};

class GraphPlan : public core::ExecPlan {
 public:
  explicit GraphPlan(const core::Graph& graph);

  /// Resets the counters for the launch of `operation`.
  void start(Operation& operation);

  const core::Graph& graph;
  std::vector<PlanNode> nodes;
  std::vector<PlanSuccessor> successors;
  std::vector<uint32_t> roots;
  // Nodes with external events.
  std::vector<uint32_t> event_waits;
  std::vector<uint32_t> event_records;

  std::unique_ptr<NodeRun[]> runs;
  std::atomic<uint32_t> remaining{0};
  Operation* launch = nullptr;  // the running one
};

}  // namespace cuda_runtime::cpu
