#include "core/graph/nodes/condition.h"

#include <cstring>

#include "core/runtime.h"

namespace cuda_runtime::core {

GraphCondition::GraphCondition(Ref<Runtime> runtime, uint64_t home, uint32_t index,
                               uint32_t initial)
    : Record(kKind), home(home), index(index), initial(initial), runtime_(std::move(runtime)) {
  runtime_->live().add(*this);
}

GraphCondition::~GraphCondition() { runtime_->live().remove(*this); }

Graph* chosen_body(const Conditional& conditional, uint32_t value) {
  const std::vector<Ref<Graph>>& bodies = conditional.bodies;
  switch (conditional.type) {
    case ConditionalType::kIf:
      if (value != 0) return bodies[0].get();
      return bodies.size() > 1 ? bodies[1].get() : nullptr;
    case ConditionalType::kWhile:
      return value != 0 ? bodies[0].get() : nullptr;
    case ConditionalType::kSwitch:
      return value < bodies.size() ? bodies[value].get() : nullptr;
  }
  return nullptr;
}

std::vector<Ref<Graph>> with_bodies(const Ref<Graph>& graph) {
  std::vector<Ref<Graph>> graphs{graph};
  // Grows while it runs: bodies of bodies follow behind.
  for (size_t i = 0; i < graphs.size(); ++i) {
    const Ref<Graph> outer = graphs[i];
    for (const GraphNode& node : outer->nodes()) {
      if (node.work->kind != WorkKind::kConditional) continue;
      const std::vector<Ref<Graph>>& bodies = node.work->conditional->bodies;
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
    }
  }
  return graphs;
}

Ref<Work> with_condition_handles(const Ref<Work>& work, const ConditionHandles& handles) {
  if (work->conditions.empty()) return work;
  auto bound = make_ref<Work>(WorkKind::kKernel);
  bound->kernel = work->kernel;
  bound->config = work->config;
  bound->accesses = work->accesses;
  bound->conditions = work->conditions;
  std::memcpy(bound->params.resize(work->params.bytes()), work->params.data(),
              work->params.bytes());
  for (const ConditionArgument& argument : work->conditions) {
    const uint64_t handle = handles.at(argument.condition->index);
    std::memcpy(bound->params.data() + argument.offset, &handle, sizeof handle);
  }
  return bound;
}

void bind_conditions(Graph& flat, const ConditionHandles& handles) {
  for (uint32_t i = 0; i < flat.nodes().size(); ++i) {
    const Ref<Work> work = flat.nodes()[i].work;
    if (work->kind == WorkKind::kConditional) {
      for (const Ref<Graph>& body : work->conditional->bodies) bind_conditions(*body, handles);
    } else if (!work->conditions.empty()) {
      flat.set_work(i, with_condition_handles(work, handles));
    }
  }
}

Status create_condition(Graph& graph, uint32_t initial, Ref<GraphCondition>& condition) {
  Status status = graph.check_mutable();
  if (!status.ok()) return status;
  if (graph.origin() == GraphOrigin::kBody) {
    return Status::argument("a body has no conditions of its own",
                            "Make the condition of the graph that the body is part of");
  }
  condition =
      make_ref<GraphCondition>(Ref<Runtime>(&graph.runtime()), graph.home(),
                               static_cast<uint32_t>(graph.conditions().size()), initial);
  graph.add_condition(condition);
  return {};
}

}  // namespace cuda_runtime::core
