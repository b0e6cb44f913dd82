// One operation of a stream on the CPU: a mark, a piece of work, or the launch of a graph. It
// counts down its dependencies; whoever completes the last one starts it. No thread waits for it.
#pragma once

#include <memory>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/graph/exec.h"
#include "core/stream/stream.h"
#include "core/ticket.h"

namespace cuda_runtime::cpu {

class GraphPlan;
class Operation;

enum class OperationType : uint8_t { kMark, kWork, kGraph };

/// Who continues when an operation completes (or triggers).
struct Successor {
  Operation* operation = nullptr;  // null: node of a running plan
  GraphPlan* plan = nullptr;
  uint32_t node = 0;
  bool programmatic = false;
};

/// A token to post at completion.
struct Notice {
  core::Ref<core::CompletionSink> sink;
  int64_t token = 0;
  const char* api = "";
};

/// What one launch of a graph carries: external events as they were at the launch (CX27).
struct GraphLaunch {
  core::Ref<core::Exec> exec;
  GraphPlan* plan = nullptr;
  uint64_t number = 0;
  std::vector<std::pair<uint32_t, core::Ref<core::Ticket>>> waits;
  std::vector<std::pair<uint32_t, core::Ref<Operation>>> records;
};

class Operation : public core::Ticket {
 public:
  explicit Operation(OperationType operation_type) : type(operation_type) {}

  using core::Ticket::mark_complete;

  const OperationType type;
  bool timing = false;
  bool is_kernel = false;
  bool triggered = false;  // guarded by the scheduler's mutex, as are the following
  uint32_t start_pending = 1;                // dependencies, and one for the submission
  std::atomic<uint32_t> finish_pending{1};   // itself, and programmatic predecessors
  core::InlineVector<Successor, 2> successors;
  core::InlineVector<Notice, 1> notices;
  uint64_t number = 0;  // order of submission
  uint64_t stream_id = 0;
  core::Ref<core::Stream> stream;  // until complete
  core::Ref<core::Work> work;      // kWork, until complete
  std::unique_ptr<GraphLaunch> launch;  // kGraph, until complete
};

/// The CPU's part of a stream: its last operation.
class CpuQueue : public core::StreamQueue {
 public:
  core::Ref<Operation> tail;  // guarded by the runtime's mutex
  std::atomic<uint64_t> pending{0};
};

/// What an executor thread runs next: an operation, or a node of a running plan.
struct Task {
  Operation* operation = nullptr;
  GraphPlan* plan = nullptr;
  uint32_t node = 0;
  uint64_t order = 0;    // submission order, for the serial schedule
  uint64_t stream = 0;   // stream id, for the adversarial schedule
  explicit operator bool() const { return operation != nullptr || plan != nullptr; }
};

}  // namespace cuda_runtime::cpu
