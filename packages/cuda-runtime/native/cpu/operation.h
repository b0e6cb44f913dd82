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

/// Who continues when an operation completes (or triggers). It belongs to the one who continues and
/// is linked into the one that is waited for: after the submission nothing needs memory.
struct Successor {
  Operation* operation = nullptr;  // null: node of a running plan
  GraphPlan* plan = nullptr;
  uint32_t node = 0;
  bool programmatic = false;
  Successor* next = nullptr;
};

/// What an executor thread runs next: an operation, or a node of a running plan.
struct Task {
  Operation* operation = nullptr;
  GraphPlan* plan = nullptr;
  uint32_t node = 0;
  uint64_t order = 0;    // submission order, for the serial schedule
  uint64_t stream = 0;   // stream id, for the adversarial schedule
  bool is_callback = false;  // runs on the callback thread
  Task* next = nullptr;  // in a queue
  explicit operator bool() const { return operation != nullptr || plan != nullptr; }
};

/// A list through the `next` of its elements, which belong to somebody else.
template <typename T>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }
  void append(T& item) {
    item.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &item;
    last_ = &item;
  }
  void append_all(LinkedList& other) {
    if (other.empty()) return;
    (last_ != nullptr ? last_->next : first_) = other.first_;
    last_ = other.last_;
    other = {};
  }
  /// Takes out the element behind `previous`; null: the first.
  T& take_after(T* previous) {
    T& item = *(previous != nullptr ? previous->next : first_);
    (previous != nullptr ? previous->next : first_) = item.next;
    if (last_ == &item) last_ = previous;
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

/// A token to post at completion.
struct Notice {
  core::Ref<core::CompletionSink> sink;
  int64_t token = 0;
  const char* api = "";
};

/// A node of a launch that waits for an event's ticket.
struct ExternalWait {
  uint32_t node = 0;
  core::Ref<core::Ticket> ticket;
  Successor link;
};

/// What one launch of a graph carries: external events as they were at the launch (CX27).
struct GraphLaunch {
  core::Ref<core::Exec> exec;
  core::Ref<core::Graph> graph;  // what the nodes do; the executable may get another (CG07)
  GraphPlan* plan = nullptr;
  uint64_t number = 0;
  uint64_t traced = 0;  // number in the trace; 0 = none
  bool traces_nodes = false;
  int64_t start_ns = 0;  // traced as a whole
  std::vector<ExternalWait> waits;
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
  LinkedList<Successor> successors;
  core::InlineVector<Successor, 2> links;  // this operation's place in its predecessors' lists
  core::InlineVector<Notice, 1> notices;   // once complete, of the thread that completed it
  uint64_t number = 0;  // order of submission
  uint64_t stream_id = 0;
  core::Ref<core::Stream> stream;  // until complete
  // Given back when it has run and before it completes: whoever sees its end, or that of a mark
  // behind it, finds the memory free that only it still held.
  core::Ref<core::Work> work;           // kWork
  std::unique_ptr<GraphLaunch> launch;  // kGraph
  Task task;
  Operation* next = nullptr;  // in the list of those that completed together
  // Those that are submitted and not complete, in that order; for the watchdog.
  Operation* earlier = nullptr;
  Operation* later = nullptr;
  // Virtual clock: the latest end of what it waits for, and its own end if that is known.
  std::atomic<int64_t> ready_ns{0};
  std::atomic<int64_t> end_ns{0};
  core::Status failure;       // why it could not be done; set before it completes
  bool out_of_memory = false;  // the same without memory for a Status
};

/// The CPU's part of a stream: its last operation.
class CpuQueue : public core::StreamQueue {
 public:
  core::Ref<Operation> tail;  // guarded by the runtime's mutex
  std::atomic<uint64_t> pending{0};
};

}  // namespace cuda_runtime::cpu
