#include "core/graph/exec.h"

#include "core/graph/capture_rules.h"
#include "core/graph/traced_copy.h"
#include "core/runtime.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {

Exec::Exec(Ref<Graph> graph, std::unique_ptr<ExecPlan> plan)
    : Record(kKind), graph_(std::move(graph)), plan_(std::move(plan)) {
  graph_->runtime().live().add(kKind);
}

Exec::~Exec() { graph_->runtime().live().remove(kKind); }

Status Exec::instantiate(const Ref<Graph>& graph, Ref<Exec>& exec) {
  Runtime& runtime = graph->runtime();
  if (!runtime.options().guards) {
    LockGuard lock(runtime.mutex());
    Status status = check_unsafe(runtime, "instantiating a graph", "CU28");
    if (!status.ok()) return status;
  }
  std::unique_ptr<ExecPlan> plan;
  Status status = runtime.backend().plan(*graph, plan);
  if (!status.ok()) return status;
  runtime.races().check_graph(*graph);
  exec = make_ref<Exec>(graph, std::move(plan));
  return {};
}

Status Exec::launch(Stream& stream) {
  Runtime& runtime = stream.runtime();
  if (&runtime != &graph_->runtime()) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         "the graph belongs to another runtime than the stream",
                         "Launch it on a stream of the runtime that captured it");
  }
  LockGuard lock(runtime.mutex());
  Status status = check_graph_launch(stream);
  if (!status.ok()) return status;
  runtime.races().graph_starts(stream, *graph_, last_launch.get());
  status = submit(stream);
  if (!status.ok()) return status;
  runtime.races().graph_submitted(stream, *graph_, *last_launch);
  launches_.fetch_add(1, std::memory_order_relaxed);
  runtime.graph_launches.fetch_add(1, std::memory_order_relaxed);
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

}  // namespace cuda_runtime::core
