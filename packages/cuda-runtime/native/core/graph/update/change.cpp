#include "core/graph/update/change.h"

#include <span>

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

/// The nodes from `first` to before `last` do again what the executable's graph says.
bool take_back(Exec& exec, uint32_t first, uint32_t last) noexcept {
  try {
    for (uint32_t i = last; i-- > first;) {
      exec.runtime().backend().set_node(exec, exec.graph()->nodes()[i], i);
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Gives the backend's plan `next` for the nodes from `first` on: all of them, or none and throws.
/// The executable's graph still says what they did, so that what a refused change was to replace
/// lives.
/// `half` keeps what `next` uses, should the change end in the middle.
void give_to_plan(Exec& exec, uint32_t first, std::span<const GraphNode> next,
                  Ref<RefCounted> half) {
  uint32_t given = 0;
  try {
    for (; given < next.size(); ++given) {
      exec.runtime().backend().set_node(exec, next[given], first + given);
    }
  } catch (...) {
    // The refused one, too: it may have taken a part.
    if (!take_back(exec, first, first + given + 1)) exec.mark_broken(std::move(half));
    throw;
  }
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
  status = exec.check_whole();
  if (!status.ok()) return status;
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
  give_to_plan(exec, 0, flat->nodes(), flat);
  exec.replace_graph(std::move(flat));
  return {};
}

Status set_work(Exec& exec, uint32_t node, Ref<Work> work) {
  LockGuard lock(exec.runtime().mutex());
  Status status = check_node(exec, node);
  if (status.ok()) status = exec.check_whole();
  if (status.ok()) status = check_work(*exec.graph(), *work);
  if (!status.ok()) return status;
  std::string why;
  const Work& before = *exec.graph()->nodes()[node].work;
  if (check_replaceable(before, *work, why) != UpdateResult::kSuccess) {
    return Status::argument("node " + std::to_string(node) + " " + why,
                            "Give a node the kind of work that it has");
  }
  // Before the plan takes it: copying the graph may fail.
  Graph& graph = exec.writable_graph();
  GraphNode next = graph.nodes()[node];
  next.work = with_condition_handles(work, exec.plan().condition_handles);
  give_to_plan(exec, node, {&next, 1}, next.work);
  graph.set_work(node, std::move(next.work));
  return {};
}

Status set_enabled(Exec& exec, uint32_t node, bool enabled) {
  LockGuard lock(exec.runtime().mutex());
  Status status = check_node(exec, node);
  if (status.ok()) status = exec.check_whole();
  if (!status.ok()) return status;
  const WorkKind kind = exec.graph()->nodes()[node].work->kind;
  if (!can_be_off(kind)) {
    return Status::argument("node " + std::to_string(node) + " is of kind " +
                                work_kind_name(kind) + " and cannot be switched off",
                            "Switch kernels, copies and fills");
  }
  if (exec.graph()->nodes()[node].enabled == enabled) return {};
  GraphNode& now = exec.writable_graph().mutable_nodes()[node];
  GraphNode next = now;
  next.enabled = enabled;
  give_to_plan(exec, node, {&next, 1}, next.work);
  now.enabled = enabled;
  return {};
}

}  // namespace cuda_runtime::core
