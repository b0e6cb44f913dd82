// Values that kernels set and conditional nodes read: if, if-else, while, switch.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// A value of a graph; every launch starts it at `initial`. Each executable has a value of its own.
class GraphCondition : public Record {
 public:
  static constexpr Kind kKind = Kind::kCondition;

  GraphCondition(Ref<Runtime> runtime, uint64_t home, uint32_t index, uint32_t initial);
  ~GraphCondition() override;

  const uint64_t home;   // Graph::home of the graph that it was made for
  const uint32_t index;  // place in Graph::conditions
  const uint32_t initial;
  bool has_node = false;  // one node at most may read it

 private:
  const Ref<Runtime> runtime_;
};

enum class ConditionalType : uint8_t { kIf, kWhile, kSwitch };

/// What a conditional node runs. An if has one or two bodies: taken when the value is not 0, and
/// when it is. A switch runs the body of that number, none beyond the last.
class Conditional : public RefCounted {
 public:
  Ref<GraphCondition> condition;
  ConditionalType type = ConditionalType::kIf;
  std::vector<Ref<Graph>> bodies;
};

/// The body that a value chooses; null: none.
Graph* chosen_body(const Conditional& conditional, uint32_t value);

/// The graph and all bodies below it.
std::vector<Ref<Graph>> with_bodies(const Ref<Graph>& graph);

/// Handles of a graph's conditions, by index, as one backend names them for one executable.
using ConditionHandles = std::vector<uint64_t>;

/// The work with handles in the fields of its parameter struct that name conditions; the same work
/// when there are none.
Ref<Work> with_condition_handles(const Ref<Work>& work, const ConditionHandles& handles);

/// The same for all kernels of a flat graph that nobody uses yet, and of its bodies.
void bind_conditions(Graph& flat, const ConditionHandles& handles);

/// Makes a condition of the graph.
Status create_condition(Graph& graph, uint32_t initial, Ref<GraphCondition>& condition);

}  // namespace cuda_runtime::core
