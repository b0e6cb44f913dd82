#include "core/graph/update/change.h"

#include "core/graph/build/builder.h"
#include "core/graph/build/flatten.h"
#include "core/graph/nodes/condition.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

Status check_node(const Exec& exec, uint32_t node) {
  if (node < exec.graph()->nodes().size()) return {};
  return Status::argument("the executable has no node " + std::to_string(node),
                          "Use a node of the graph that it was made from");
}

bool can_be_off(WorkKind kind) {
  return kind == WorkKind::kKernel || kind == WorkKind::kCopy || kind == WorkKind::kFill;
}

/// Users know the nodes of the graph that they built: for a node of a child, the child's.
uint32_t visible_node(const Graph& flat, uint32_t node) {
  while (node != kNoNode && flat.nodes()[node].child_of != kNoNode) {
    node = flat.nodes()[node].child_of;
  }
  return node;
}

}  // namespace

Status update_exec(Exec& exec, const Graph& graph, UpdateReport& report) {
  Runtime& runtime = exec.runtime();
  if (&graph.runtime() != &runtime) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         "the graph belongs to another runtime than the executable",
                         "Open one runtime");
  }
  Ref<Graph> flat;
  Status status = flatten(graph, flat);
  if (!status.ok()) return status;
  LockGuard lock(runtime.mutex());
  report = compare(*exec.graph(), *flat);
  if (report.result != UpdateResult::kSuccess) {
    runtime.update_failures.add(std::to_string(static_cast<int>(report.result)));
    report.node = visible_node(*flat, report.node);
    report.from_node = visible_node(*flat, report.from_node);
    return {};
  }
  // Switched-off nodes stay off.
  for (uint32_t i = 0; i < flat->nodes().size(); ++i) {
    flat->mutable_nodes()[i].enabled = exec.graph()->nodes()[i].enabled;
  }
  runtime.races().check_graph(*flat);
  exec.replace_graph(std::move(flat));
  for (uint32_t i = 0; i < exec.graph()->nodes().size(); ++i) {
    status = runtime.backend().set_node(exec, i);
    if (!status.ok()) return status;
  }
  return {};
}

Status set_work(Exec& exec, uint32_t node, Ref<Work> work) {
  LockGuard lock(exec.runtime().mutex());
  Status status = check_node(exec, node);
  if (status.ok()) status = check_work(*exec.graph(), *work);
  if (!status.ok()) return status;
  std::string why;
  const Work& before = *exec.graph()->nodes()[node].work;
  if (check_replaceable(before, *work, why) != UpdateResult::kSuccess) {
    return Status::argument("node " + std::to_string(node) + " " + why,
                            "Give a node the kind of work that it has");
  }
  work = with_condition_handles(work, exec.plan().condition_handles);
  exec.writable_graph().mutable_nodes()[node].work = std::move(work);
  return exec.runtime().backend().set_node(exec, node);
}

Status set_enabled(Exec& exec, uint32_t node, bool enabled) {
  LockGuard lock(exec.runtime().mutex());
  Status status = check_node(exec, node);
  if (!status.ok()) return status;
  const GraphNode& now = exec.graph()->nodes()[node];
  if (!can_be_off(now.work->kind)) {
    return Status::argument("node " + std::to_string(node) + " is of kind " +
                                work_kind_name(now.work->kind) + " and cannot be switched off",
                            "Switch kernels, copies and fills");
  }
  if (now.enabled == enabled) return {};
  exec.writable_graph().mutable_nodes()[node].enabled = enabled;
  return exec.runtime().backend().set_node(exec, node);
}

}  // namespace cuda_runtime::core
