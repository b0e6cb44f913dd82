// A graph made ready to run. What its nodes do can be replaced between launches; launches of one
// executable run one after another, also from several streams (CG05).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/base/record.h"
#include "core/graph/graph.h"

namespace cuda_runtime::core {

struct TracedCopy;

struct ExecOptions {
  bool auto_free = false;  // a launch frees what an earlier one left allocated (CM03)
  bool node_priority = true;
};

/// A graph on its way to an executable: taken on the thread that may change it, to be completed on
/// any.
struct ExecDraft {
  Ref<Graph> flat;
  std::shared_ptr<ExecLease> lease;  // null without memory nodes
  ExecOptions options;
};

class Exec : public Record {
 public:
  static constexpr Kind kKind = Kind::kExec;

  Exec(ExecDraft draft, std::unique_ptr<ExecPlan> plan);
  ~Exec() override;

  /// Refused or performed during captures as the guards say (CU28).
  static Status draft(Graph& graph, const ExecOptions& options, ExecDraft& draft);
  /// Makes the plan; reports races of the graph.
  static Status complete(ExecDraft draft, Ref<Exec>& exec);
  /// Both.
  static Status instantiate(const Ref<Graph>& graph, Ref<Exec>& exec,
                            const ExecOptions& options = {});

  Status launch(Stream& stream);
  Status upload(Stream& stream);

  Runtime& runtime() const { return *runtime_; }
  /// What the next launch does. Whoever keeps a reference keeps this state: changes are made to a
  /// copy then. Needs the runtime's mutex.
  const Ref<Graph>& graph() const { return graph_; }
  const ExecOptions& options() const { return options_; }
  ExecPlan& plan() const { return *plan_; }
  uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }
  /// The latest launch; needs the runtime's mutex.
  Ref<Ticket> last_launch;
  /// The launch being submitted: its number in the trace, 0 = not traced. Needs the mutex, too.
  uint64_t traced = 0;
  std::vector<Ref<TracedCopy>> traced_copies;

  // For core/graph/update; they need the runtime's mutex.
  /// The graph, to be changed: a copy when launches in flight hold it.
  Graph& writable_graph();
  void replace_graph(Ref<Graph> flat) noexcept;
  /// Nodes were given `half`, and neither the rest nor what they did before: nobody knows what a
  /// launch would do. Keeps both, which the backend's plan may name, and launches no more.
  void mark_broken(Ref<RefCounted> half) noexcept { half_ = std::move(half); }
  /// CRT_GRAPH_EXEC_BROKEN when that happened.
  Status check_whole() const;

 private:
  Status check_stream(const Stream& stream) const;
  Status submit(Stream& stream);
  Status check_memory() const;
  void note_memory() const;

  const Ref<Runtime> runtime_;
  const ExecOptions options_;
  const std::shared_ptr<ExecLease> lease_;
  const bool has_memory_nodes_;
  Ref<Graph> graph_;
  Ref<RefCounted> half_;  // a graph or a node's work that the plan took a part of; else null
  // Goes before what it names.
  const std::unique_ptr<ExecPlan> plan_;
  std::atomic<uint64_t> launches_{0};
};

}  // namespace cuda_runtime::core
