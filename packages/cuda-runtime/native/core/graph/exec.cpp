#include "core/graph/exec.h"

#include "core/graph/capture_rules.h"
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
    Status status = check_unsafe(runtime, "instantiating a graph");
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
  last_launch = runtime.backend().launch(stream, *this);
  runtime.races().graph_submitted(stream, *graph_, *last_launch);
  launches_.fetch_add(1, std::memory_order_relaxed);
  runtime.graph_launches.fetch_add(1, std::memory_order_relaxed);
  return {};
}

}  // namespace cuda_runtime::core
