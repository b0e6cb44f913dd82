#include "core/graph/build/builder.h"

#include <algorithm>

#include "core/graph/build/topology.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

std::string node_text(const Graph& graph, uint32_t node) {
  return "node " + std::to_string(node) + " (" + graph.nodes()[node].work->label() + ")";
}

Status no_such_node(const Graph& graph, uint32_t node) {
  return Status::argument("there is no node " + std::to_string(node) + ", the graph has " +
                              std::to_string(graph.nodes().size()),
                          "Use nodes of this graph");
}

Status bad_edge(std::string detail, std::string hint) {
  return Status::argument(std::move(detail), std::move(hint));
}

Status check_after(const Graph& graph, const After& after) {
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] >= graph.nodes().size()) return no_such_node(graph, after[i]);
    if (std::find(after.begin(), after.begin() + static_cast<ptrdiff_t>(i), after[i]) !=
        after.begin() + static_cast<ptrdiff_t>(i)) {
      return bad_edge("`after` names " + node_text(graph, after[i]) + " twice", "Name it once");
    }
  }
  return {};
}

/// Ports and types that go together, and what can be at their ends (CP05, CP08).
Status check_ports(const Graph& graph, uint32_t from, const GraphDependency& how, uint32_t to) {
  const bool programmatic = how.type == EdgeType::kProgrammatic;
  if (programmatic != (how.port == EdgePort::kProgrammatic)) {
    return bad_edge("the port programmatic and the type programmatic go together, not with others",
                    "Use type full with port completion or launch, or both programmatic");
  }
  if (how.port == EdgePort::kCompletion) return {};
  if (graph.nodes()[from].work->kind != WorkKind::kKernel) {
    return bad_edge(node_text(graph, from) + " is no kernel and has only the port completion",
                    "Use a full edge from its completion");
  }
  if (!programmatic) return {};
  const Work& later = *graph.nodes()[to].work;
  if (later.kind != WorkKind::kKernel) {
    return bad_edge(node_text(graph, to) + " is no kernel and cannot wait on the device",
                    "Use a full edge");
  }
  if (later.kernel->layout().waits) return {};
  return bad_edge("kernel " + later.label() + " does not wait for its predecessors on the device",
                  "Use a full edge, or let the kernel wait (pdl=waits)");
}

// What runs and draws a graph calls itself for each level: without a limit it would end the
// process.
constexpr uint32_t kMostLevels = 128;

Status too_deep(const char* what) {
  return Status::argument(std::string(what) + " are nested " + std::to_string(kMostLevels) +
                              " deep already",
                          "Build a graph with fewer levels");
}

Status single_exec(const char* what) {
  return Status::error("CRT_GRAPH_SINGLE_EXEC", kNotSupported,
                       std::string("a graph with memory nodes cannot ") + what,
                       "Use one executable of it, or buffers that are no part of the graph");
}

Status check_copyable(const Graph& graph, const char* what) {
  Status status = graph.check_usable();
  if (!status.ok()) return status;
  if (graph.has_memory_nodes()) return single_exec(what);
  if (!graph.has_conditions()) return {};
  return Status::error("CRT_GRAPH_NOT_CLONEABLE", kNotSupported,
                       std::string("a graph with conditions cannot ") + what,
                       "Build it again where it is needed");
}

}  // namespace

Status check_work(const Graph& graph, const Work& work) {
  for (const ConditionArgument& argument : work.conditions) {
    if (argument.condition->home == graph.home()) continue;
    return Status::argument("kernel " + work.label() + " is given a condition of another graph",
                            "Use a condition of the graph that the node is part of");
  }
  return {};
}

Status add_node(Graph& graph, Ref<Work> work, const After& after, uint32_t& node) {
  Status status = graph.check_mutable();
  if (status.ok()) status = check_after(graph, after);
  if (status.ok()) status = check_work(graph, *work);
  if (!status.ok()) return status;
  GraphNode added;
  added.work = std::move(work);
  for (const uint32_t before : after) added.dependencies.push_back({before});
  node = graph.add(std::move(added));
  return {};
}

Status add_dependency(Graph& graph, uint32_t from, const GraphDependency& how, uint32_t to) {
  Status status = graph.check_mutable();
  if (!status.ok()) return status;
  for (const uint32_t node : {from, to}) {
    if (node >= graph.nodes().size()) return no_such_node(graph, node);
  }
  if (from == to) return bad_edge(node_text(graph, to) + " cannot depend on itself", "Leave it out");
  std::vector<GraphDependency>& dependencies = graph.mutable_nodes()[to].dependencies;
  for (const GraphDependency& known : dependencies) {
    if (known.node != from) continue;
    return bad_edge(node_text(graph, to) + " depends on " + node_text(graph, from) + " already",
                    "Leave it out");
  }
  status = check_ports(graph, from, how, to);
  if (!status.ok()) return status;
  if (reaches(graph.nodes(), to, from)) {
    return bad_edge("an edge from " + node_text(graph, from) + " to " + node_text(graph, to) +
                        " would close a cycle",
                    "Remove the other direction");
  }
  dependencies.push_back({from, how.type, how.port});
  return {};
}

Status add_child(Graph& graph, const Graph& child, const After& after, uint32_t& node) {
  if (&graph == &child) {
    return Status::argument("a graph cannot be its own child", "Add a clone of it");
  }
  if (&graph.runtime() != &child.runtime()) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         "the child belongs to another runtime than the graph",
                         "Open one runtime");
  }
  if (child.origin() == GraphOrigin::kBody) {
    return Status::argument("a body of a conditional node cannot be a child",
                            "Add a graph of its own");
  }
  Status status = check_copyable(child, "be a child");
  if (!status.ok()) return status;
  if (child.height >= kMostLevels) return too_deep("child graphs");
  auto work = make_ref<Work>(WorkKind::kChild);
  work->child = child.copy(GraphOrigin::kExplicit);
  status = add_node(graph, std::move(work), after, node);
  if (status.ok()) graph.height = std::max(graph.height, child.height + 1);
  return status;
}

Status add_conditional(Graph& graph, const ConditionalRequest& request, const After& after,
                       uint32_t& node, std::vector<Ref<Graph>>& bodies) {
  GraphCondition& condition = *request.condition;
  if (condition.home != graph.home()) {
    return Status::argument("the condition belongs to another graph",
                            "Use a condition of the graph that the node is part of");
  }
  if (condition.has_node) {
    return Status::argument("the condition has a node already", "Make a condition for each node");
  }
  if (graph.depth >= kMostLevels) return too_deep("bodies of conditional nodes");
  auto conditional = make_ref<Conditional>();
  conditional->condition = request.condition;
  conditional->type = request.type;
  for (uint32_t i = 0; i < request.bodies; ++i) conditional->bodies.push_back(graph.make_body());
  auto work = make_ref<Work>(WorkKind::kConditional);
  work->conditional = conditional;
  Status status = add_node(graph, std::move(work), after, node);
  if (!status.ok()) return status;
  condition.has_node = true;
  bodies = conditional->bodies;
  return {};
}

Ref<Work> make_alloc(const Ref<GraphBuffer>& buffer) {
  auto work = make_ref<Work>(WorkKind::kAlloc);
  work->memory = buffer;
  work->bytes = buffer->bytes();
  work->accesses.push_back({buffer, 0, buffer->bytes(), kWrite});
  return work;
}

Status make_free(Runtime& runtime, const Ref<Buffer>& buffer, Ref<Work>& work) {
  GraphBuffer* memory = buffer->as_graph_buffer();
  if (memory == nullptr || memory->has_free_node) {
    return Status::argument(memory == nullptr
                                ? buffer->describe() + " is not the memory of an allocation node"
                                : buffer->describe() + " has a node that frees it already",
                            "Free what a graph allocates, once");
  }
  if (&memory->runtime() != &runtime) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         buffer->describe() + " belongs to another runtime than the graph",
                         "Open one runtime");
  }
  work = make_ref<Work>(WorkKind::kFree);
  work->memory = Ref<GraphBuffer>(memory);
  work->bytes = memory->bytes();
  work->accesses.push_back({buffer, 0, memory->bytes(), kWrite});
  return {};
}

Status add_alloc(Graph& graph, uint64_t bytes, const std::string& label, const After& after,
                 uint32_t& node, Ref<GraphBuffer>& buffer) {
  Status status = graph.check_mutable();
  if (status.ok()) {
    status = allocate_graph_buffer(graph.runtime(), graph.home(), bytes, label, buffer);
  }
  if (!status.ok()) return status;
  return add_node(graph, make_alloc(buffer), after, node);
}

Status add_free(Graph& graph, const Ref<Buffer>& buffer, const After& after, uint32_t& node) {
  Ref<Work> work;
  Status status = make_free(graph.runtime(), buffer, work);
  if (!status.ok()) return status;
  const Ref<GraphBuffer> memory = work->memory;
  status = add_node(graph, std::move(work), after, node);
  if (status.ok()) memory->has_free_node = true;
  return status;
}

Status clone_graph(const Graph& graph, Ref<Graph>& clone) {
  if (graph.origin() == GraphOrigin::kBody) {
    return Status::argument("a body of a conditional node cannot be cloned",
                            "Build a graph of its own");
  }
  Status status = check_copyable(graph, "be cloned");
  if (status.ok()) clone = graph.copy(graph.origin());
  return status;
}

}  // namespace cuda_runtime::core
