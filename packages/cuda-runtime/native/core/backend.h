// Everything that a backend must offer. The core checks, names, captures and retains; a backend
// only runs. There are two: cpu/backend.cpp and cuda/backend.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/check/device_loss.h"
#include "core/graph/graph.h"
#include "core/memory/staging.h"
#include "core/module.h"
#include "core/ticket.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Stream;
class Exec;

/// A backend's part of a stream.
class StreamQueue {
 public:
  virtual ~StreamQueue() = default;
};

/// A backend's part of a graph executable.
class ExecPlan {
 public:
  virtual ~ExecPlan() = default;

  /// What kernels get for the graph's conditions, by their index.
  std::vector<uint64_t> condition_handles;
};

/// Where a buffer lies.
enum class MemoryPlace : uint8_t { kDevice, kHost };

/// Memory of a place as an allocation finds it, in bytes.
struct MemoryState {
  uint64_t free = 0;
  uint64_t reserved = 0;  // taken from the system, used or kept for reuse
  uint64_t available = 0;  // what allocations could still get: free, or kept for reuse
};

/// Stream priorities; a lower number runs first.
struct PriorityRange {
  int least = 0;
  int greatest = 0;
};

/// What happens when a mark is reached.
struct MarkRequest {
  bool timing = false;
  Ref<CompletionSink> sink;  // posts `token` there, with a pending fault if there is one
  int64_t token = 0;
  const char* api = "";
};

/// Something that was submitted and is not known to be over, with what it keeps; the rest is null.
struct SubmittedWork {
  const std::string& stream_name;
  const Stream* stream = nullptr;
  const Work* work = nullptr;
  const Exec* exec = nullptr;    // a launch
  const Graph* graph = nullptr;  // what the launch does
};

/// Functions without a Status throw: `std::bad_alloc` without memory, `StatusException` when the
/// driver refuses. Both leave everything as it was.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const char* name() const = 0;
  virtual void describe(JsonWriter& json) = 0;
  virtual void describe_device(JsonWriter& json) = 0;
  virtual void statistics(JsonWriter& json) = 0;

  virtual PriorityRange priority_range() const = 0;
  virtual std::unique_ptr<StreamQueue> make_queue(Stream& stream) = 0;
  /// Appends to the stream. The ticket is null where the race checker has no use for it.
  virtual Ref<Ticket> enqueue(Stream& stream, Ref<Work> work) = 0;
  /// Whether `enqueue` sets the events that a launch records; else they complete with the kernel.
  virtual bool records_launch_events() const { return false; }
  /// Appends a point without work.
  virtual Ref<Ticket> mark(Stream& stream, const MarkRequest& request) = 0;
  /// Later work of the stream waits for the ticket.
  virtual void wait(Stream& stream, Ticket& ticket) = 0;
  /// The stream's last point; null when nothing is pending.
  virtual Ref<Ticket> tail(Stream& stream) = 0;
  /// Points behind what is in flight on streams that are gone.
  virtual std::vector<Ref<Ticket>> tails_of_closed() { return {}; }
  virtual uint64_t pending(Stream& stream) = 0;
  /// Visits what is in flight, with locks held under which nothing may be released or submitted.
  virtual void visit_submitted(const std::function<void(const SubmittedWork&)>& visitor) = 0;
  /// Asks whether the ticket is complete, now.
  virtual bool poll(Ticket& ticket) { return ticket.is_complete(); }
  /// Time between two complete tickets that were made with timing.
  virtual double elapsed_ms(Ticket& start, Ticket& end) = 0;
  /// Whether the backend adds spans to the trace itself as work runs, on the host's clock; else the
  /// core times it with events.
  virtual bool traces_itself() const { return false; }
  /// Posts the token when the ticket completes.
  virtual void notify(Ticket& ticket, const MarkRequest& request) = 0;
  /// Blocks; false when the time is over. timeout_ms < 0 = for ever.
  virtual bool wait_blocking(Ticket& ticket, int64_t timeout_ms) = 0;
  /// Whether the device is lost, and who is told.
  virtual DeviceLoss& device_loss() = 0;
  /// A failure of finished work that nobody was told of yet.
  virtual Status take_fault() = 0;
  /// `CRT_DEVICE_LOST` once the device is lost.
  virtual Status loss() const { return {}; }
  /// Whether the backend wants to know what the host has seen the end of.
  virtual bool orders_host() const { return false; }
  virtual void host_saw(const Ticket&) {}
  virtual void host_saw_idle(Stream&) {}
  /// Adds a fault that a test wants.
  virtual Status inject(const JsonValue&) {
    return Status::argument("faults can be injected on the cpu backend only",
                            "Open the runtime with `backend: 'cpu'`");
  }

  virtual Status allocate(uint64_t bytes, const std::string& label, MemoryPlace place,
                          uint8_t*& data) = 0;
  /// As an allocation would find it now.
  virtual MemoryState memory_state(MemoryPlace place) = 0;
  /// Never fails and never waits; called when no submitted work can touch the memory.
  virtual void free_memory(uint8_t* data, uint64_t bytes, const std::string& label,
                           MemoryPlace place) = 0;
  /// Reports what was written beside memory in use, where that can be seen.
  virtual void check_guards() {}
  /// Memory for bytes that a write takes from JavaScript.
  virtual Status stage(uint64_t bytes, std::unique_ptr<StagedBytes>& staged) = 0;

  virtual Status load_image(const JsonValue& manifest, const std::string& directory,
                            const std::vector<KernelLayout>& layouts,
                            std::unique_ptr<ModuleImage>& image) = 0;

  /// What the device's compiler made of a kernel; nothing where kernels are plain functions.
  virtual Status describe_kernel(Kernel&, JsonWriter&) { return {}; }
  /// Blocks of this size that one processor can hold.
  virtual Status occupancy(Kernel& kernel, uint32_t threads, uint64_t shared_bytes,
                           int& blocks) = 0;

  /// Before the first host function is submitted: makes the thread that runs them.
  virtual Status start_callbacks() { return {}; }

  /// `graph` is flat and stays as it is; its edges may lead in any direction (topological_order).
  /// With `node_priority` nodes run at the priorities of their streams, else of the launch's
  /// stream.
  virtual Status plan(const Graph& graph, bool node_priority, std::unique_ptr<ExecPlan>& plan) = 0;
  /// The executable's node of that index does what `node` says from the next launch on: same kind
  /// and edges, perhaps switched on or off. `exec.graph()` holds what it did so far. When this
  /// throws, the node may have taken a part: the core sets it to the old state then.
  virtual void set_node(Exec&, const GraphNode&, uint32_t) {}
  /// Makes the first launch on the stream cheaper.
  virtual Status upload(Stream&, Exec&) { return {}; }
  virtual Ref<Ticket> launch(Stream& stream, Exec& exec) = 0;
  /// The driver's own Graphviz text of what it made of the graph, `verbose` with all that it knows
  /// of each node. May write a file, so not on a thread that must not wait.
  virtual Status driver_dot(Exec&, bool /*verbose*/, std::string&) {
    return Status::argument("the cpu backend has no driver that could draw the graph",
                            "Use `graph.toDot()`, which is the same on every backend");
  }
};

}  // namespace cuda_runtime::core
