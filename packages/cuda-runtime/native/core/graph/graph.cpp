#include "core/graph/graph.h"

#include <algorithm>

#include "core/graph/nodes/condition.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

std::atomic<uint64_t> next_graph_id{1};

}  // namespace

Graph::Graph(Ref<Runtime> runtime, GraphOrigin origin)
    : Record(kKind),
      runtime_(std::move(runtime)),
      id_(next_graph_id.fetch_add(1)),
      origin_(origin),
      home_(id_) {
  runtime_->live().add(*this);
}

Graph::~Graph() { runtime_->live().remove(*this); }

uint32_t Graph::add(GraphNode node) {
  LockGuard lock(held_mutex_);
  nodes_.push_back(std::move(node));
  return static_cast<uint32_t>(nodes_.size() - 1);
}

Status Graph::check_usable() const {
  if (!destroyed_.load()) return {};
  return Status::error("CRT_DISPOSED", kInvalidValue,
                       "a capture into the graph failed, which destroyed it",
                       "Build the graph again, and capture into a clone if the capture may fail");
}

Status Graph::check_mutable() const {
  Status status = check_usable();
  if (!status.ok() || holds_.load() == 0) return status;
  return Status::error("CRT_BUSY", kInvalidValue,
                       "the graph is being instantiated or captured into and cannot change meanwhile",
                       "Await `instantiate()`, or end the capture first");
}

void Graph::destroy() {
  destroyed_.store(true);
  take_nodes();
}

void Graph::set_work(uint32_t node, Ref<Work> work) {
  LockGuard lock(held_mutex_);
  std::swap(nodes_[node].work, work);
}

std::vector<GraphNode> Graph::take_nodes() {
  LockGuard lock(held_mutex_);
  return std::exchange(nodes_, {});
}

void Graph::put_nodes(std::vector<GraphNode> nodes) {
  LockGuard lock(held_mutex_);
  nodes_.swap(nodes);
}

void Graph::add_condition(Ref<GraphCondition> condition) {
  LockGuard lock(held_mutex_);
  conditions_.push_back(std::move(condition));
}

std::shared_ptr<ExecLease> Graph::take_lease() {
  if (!lease_.expired()) return nullptr;
  auto lease = std::make_shared<ExecLease>();
  lease_ = lease;
  return lease;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const GraphNode& node) {
    return node.work->kind == WorkKind::kAlloc || node.work->kind == WorkKind::kFree;
  });
}

Ref<Graph> Graph::copy(GraphOrigin origin) const {
  auto result = make_ref<Graph>(runtime_, origin);
  result->put_nodes(nodes_);
  result->height = height;
  return result;
}

Ref<Graph> Graph::snapshot() const {
  Ref<Graph> result = copy(origin_);
  result->home_ = home_;
  for (const Ref<GraphCondition>& condition : conditions_) result->add_condition(condition);
  result->capture_id = capture_id;
  return result;
}

Ref<Graph> Graph::make_body() const {
  auto body = make_ref<Graph>(runtime_, GraphOrigin::kBody);
  body->home_ = home_;
  body->depth = depth + 1;
  return body;
}

}  // namespace cuda_runtime::core
