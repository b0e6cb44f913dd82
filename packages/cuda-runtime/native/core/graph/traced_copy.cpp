#include "core/graph/traced_copy.h"

#include "core/graph/build/topology.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

bool is_event_node(const Work& work) {
  return work.kind == WorkKind::kEventRecord || work.kind == WorkKind::kEventWait;
}

class Inserter {
 public:
  explicit Inserter(const Graph& source) : source_(source) {
    graph_ = source.snapshot();  // its conditions, too
    graph_->take_nodes();
    last_.resize(source.nodes().size());
  }

  Ref<Graph> run(std::vector<TimedNode>& timed) {
    for (const uint32_t i : topological_order(source_.nodes())) add(i, timed);
    return std::move(graph_);
  }

 private:
  void add(uint32_t index, std::vector<TimedNode>& timed) {
    const GraphNode& node = source_.nodes()[index];
    std::vector<GraphDependency> dependencies;
    for (const GraphDependency& dependency : node.dependencies) {
      dependencies.push_back({last_[dependency.node], EdgeType::kFull});
    }
    if (is_event_node(*node.work)) {
      last_[index] = append(node, node.work, std::move(dependencies));
      return;
    }
    TimedNode result{span_of_node(source_, index, 0, 0), make_event(), make_event()};
    const uint32_t begin = append(node, record(result.begin), std::move(dependencies));
    const uint32_t work = append(node, node.work, {{begin, EdgeType::kFull}});
    graph_->mutable_nodes()[work].enabled = node.enabled;
    last_[index] = append(node, record(result.end), {{work, EdgeType::kFull}});
    timed.push_back(std::move(result));
  }

  uint32_t append(const GraphNode& like, Ref<Work> work, std::vector<GraphDependency> before) {
    GraphNode node;
    node.work = std::move(work);
    node.stream_name = like.stream_name;
    node.stream_id = like.stream_id;
    node.dependencies = std::move(before);
    return graph_->add(std::move(node));
  }

  Ref<Event> make_event() { return make_ref<Event>(Ref<Runtime>(&source_.runtime()), true); }

  static Ref<Work> record(const Ref<Event>& event) {
    auto work = make_ref<Work>(WorkKind::kEventRecord);
    work->event = event;
    return work;
  }

  const Graph& source_;
  Ref<Graph> graph_;
  std::vector<uint32_t> last_;  // by node of the source: its last node in the copy
};

}  // namespace

Ref<Graph> insert_timing(const Graph& source, std::vector<TimedNode>& timed) {
  return Inserter(source).run(timed);
}

Status make_traced_copy(const Graph& source, bool node_priority, Ref<TracedCopy>& result) {
  auto copy = make_ref<TracedCopy>();
  const Ref<Graph> graph = insert_timing(source, copy->timed);
  std::unique_ptr<ExecPlan> plan;
  Status status = source.runtime().backend().plan(*graph, node_priority, plan);
  if (!status.ok()) return status;
  copy->exec = make_ref<Exec>(ExecDraft{graph, nullptr, {}}, std::move(plan));
  result = std::move(copy);
  return {};
}

}  // namespace cuda_runtime::core
