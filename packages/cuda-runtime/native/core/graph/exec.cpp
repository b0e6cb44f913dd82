#include "core/graph/exec.h"

#include <algorithm>

#include "core/graph/build/flatten.h"
#include "core/graph/capture_rules.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/graph_buffer.h"
#include "core/graph/nodes/host_function.h"
#include "core/graph/traced_copy.h"
#include "core/runtime.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

Status not_allocated(const GraphBuffer& memory) {
  return Status::argument(memory.describe() + " is freed by the graph, but is not allocated",
                          "Launch the graph that allocates it first, once for each free");
}

Status still_allocated(const GraphBuffer& memory) {
  return Status::argument(
      memory.describe() + " of the last launch was not freed, so the graph cannot allocate it again",
      "Dispose it, free it in a graph, or instantiate with `autoFreeOnLaunch`");
}

}  // namespace

Exec::Exec(ExecDraft draft, std::unique_ptr<ExecPlan> plan)
    : Record(kKind),
      runtime_(&draft.flat->runtime()),
      options_(draft.options),
      lease_(std::move(draft.lease)),
      has_memory_nodes_(draft.flat->has_memory_nodes()),
      graph_(std::move(draft.flat)),
      plan_(std::move(plan)) {
  runtime_->live().add(*this);
}

Exec::~Exec() { runtime_->live().remove(*this); }

Status Exec::draft(Graph& graph, const ExecOptions& options, ExecDraft& draft) {
  Status status = check_not_in_callback();
  if (!status.ok()) return status;
  Runtime& runtime = graph.runtime();
  if (!runtime.options().guards) {
    LockGuard lock(runtime.mutex());
    status = check_unsafe(runtime, "instantiating a graph", "CU28");
    if (!status.ok()) return status;
  }
  if (graph.origin() == GraphOrigin::kBody) {
    return Status::argument("a body runs with the graph that it is part of",
                            "Instantiate that graph");
  }
  status = flatten(graph, draft.flat);
  if (!status.ok()) return status;
  draft.options = options;
  if (!graph.has_memory_nodes()) return {};
  draft.lease = graph.take_lease();
  if (draft.lease) return {};
  return Status::error("CRT_GRAPH_SINGLE_EXEC", kNotSupported,
                       "a graph with memory nodes has one executable at a time",
                       "Dispose the other one first, or use buffers that are no part of the graph");
}

Status Exec::complete(ExecDraft draft, Ref<Exec>& exec) {
  Runtime& runtime = draft.flat->runtime();
  std::unique_ptr<ExecPlan> plan;
  Status status = runtime.backend().plan(*draft.flat, draft.options.node_priority, plan);
  if (!status.ok()) return status;
  if (draft.flat->has_conditions()) bind_conditions(*draft.flat, plan->condition_handles);
  runtime.races().check_graph(*draft.flat);
  exec = make_ref<Exec>(std::move(draft), std::move(plan));
  return {};
}

Status Exec::instantiate(const Ref<Graph>& graph, Ref<Exec>& exec, const ExecOptions& options) {
  ExecDraft draft;
  Status status = Exec::draft(*graph, options, draft);
  return status.ok() ? complete(std::move(draft), exec) : std::move(status);
}

Status Exec::check_stream(const Stream& stream) const {
  Status status = check_not_in_callback();
  if (!status.ok() || &stream.runtime() == runtime_.get()) return status;
  return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                       "the graph belongs to another runtime than the stream",
                       "Use a stream of the runtime that captured it");
}

Status Exec::launch(Stream& stream) {
  Status status = check_stream(stream);
  if (!status.ok()) return status;
  Runtime& runtime = stream.runtime();
  LockGuard lock(runtime.mutex());
  status = check_graph_launch(stream);
  if (status.ok()) status = check_whole();
  if (status.ok() && has_memory_nodes_) status = check_memory();
  if (!status.ok()) return status;
  runtime.races().graph_starts(stream, *graph_, last_launch.get());
  status = submit(stream);
  if (!status.ok()) return status;
  if (last_launch) runtime.races().graph_submitted(stream, *graph_, *last_launch);
  if (has_memory_nodes_) note_memory();
  launches_.fetch_add(1, std::memory_order_relaxed);
  runtime.launches.add_graph();
  return {};
}

Status Exec::submit(Stream& stream) {
  Runtime& runtime = stream.runtime();
  Trace& trace = runtime.trace();
  traced = trace.is_on() ? trace.submit(stream.trace_point) : 0;
  if (traced != 0 && trace.mode() == TraceMode::kGraph) trace.note_graph(*graph_);
  if (traced != 0 && runtime.event_trace().is_on()) {
    bool launched = false;
    Status status = runtime.event_trace().launch(stream, *this, launched);
    traced = 0;
    if (!status.ok() || launched) return status;
  }
  last_launch = runtime.backend().launch(stream, *this);
  return {};
}

Status Exec::upload(Stream& stream) {
  Status status = check_stream(stream);
  if (!status.ok()) return status;
  LockGuard lock(runtime_->mutex());
  status = check_graph_launch(stream);
  if (status.ok()) status = check_whole();
  return status.ok() ? runtime_->backend().upload(stream, *this) : std::move(status);
}

Status Exec::check_whole() const {
  if (!half_) return {};
  Status lost = runtime_->backend().loss();
  if (!lost.ok()) return lost;
  return Status::error("CRT_GRAPH_EXEC_BROKEN", kInvalidValue,
                       "an earlier change was refused halfway, and so was taking it back: some nodes "
                       "may do the new, others the old",
                       "Dispose the executable and instantiate the graph again");
}

// Copies for the trace do what the graph did before.
void Exec::replace_graph(Ref<Graph> flat) noexcept {
  traced_copies.clear();
  graph_ = std::move(flat);
}

Graph& Exec::writable_graph() {
  traced_copies.clear();
  if (graph_->references() > 1) graph_ = graph_->snapshot();
  return *graph_;
}

// What a launch needs: nothing that it allocates is allocated, everything that it frees is.
Status Exec::check_memory() const {
  const std::vector<GraphNode>& nodes = graph_->nodes();
  const auto allocates = [&](const GraphBuffer& memory) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const GraphNode& node) {
      return node.work->kind == WorkKind::kAlloc && node.work->memory.get() == &memory;
    });
  };
  for (const GraphNode& node : nodes) {
    if (node.work->kind == WorkKind::kAlloc) {
      const GraphBuffer& memory = *node.work->memory;
      if (memory.is_allocated && !options_.auto_free) return still_allocated(memory);
    } else if (node.work->kind == WorkKind::kFree) {
      const GraphBuffer& memory = *node.work->memory;
      if (!memory.is_allocated && !allocates(memory)) return not_allocated(memory);
    }
  }
  return {};
}

void Exec::note_memory() const {
  for (const GraphNode& node : graph_->nodes()) {
    if (node.work->kind != WorkKind::kAlloc) continue;
    node.work->memory->is_allocated = node.work->memory->is_reachable;
  }
  for (const GraphNode& node : graph_->nodes()) {
    if (node.work->kind == WorkKind::kFree) node.work->memory->is_allocated = false;
  }
}

}  // namespace cuda_runtime::core
