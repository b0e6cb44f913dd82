// A graph of operations, captured or built node by node. Retains everything that its nodes use
// (L7). A node is named by its index; edges may lead in any direction as long as they close no
// cycle.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/record.h"
#include "core/base/status.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Runtime;
class GraphCondition;

inline constexpr uint32_t kNoNode = UINT32_MAX;

enum class EdgeType : uint8_t { kFull, kProgrammatic };

/// What of the earlier node an edge waits for; CUDA's numbers of a kernel node's ports.
enum class EdgePort : uint8_t { kCompletion = 0, kProgrammatic = 1, kLaunch = 2 };

/// The end of an edge that leads from `node`.
struct GraphDependency {
  uint32_t node = 0;
  EdgeType type = EdgeType::kFull;
  EdgePort port = EdgePort::kCompletion;

  bool operator==(const GraphDependency&) const = default;
};

struct GraphNode {
  Ref<Work> work;
  std::string stream_name;  // where it was captured, for pictures and timelines; else empty
  uint64_t stream_id = 0;
  int stream_priority = 0;
  std::vector<GraphDependency> dependencies;
  bool enabled = true;  // false: completes at once (executables only)
  // In a flat graph, the node of the child that this one was part of; else none.
  uint32_t child_of = kNoNode;
};

enum class GraphOrigin : uint8_t { kExplicit, kCaptured, kBody };

/// Held by an executable. A graph with memory nodes has one at a time (L10).
struct ExecLease {};

class Graph : public Record {
 public:
  static constexpr Kind kKind = Kind::kGraph;

  Graph(Ref<Runtime> runtime, GraphOrigin origin);
  ~Graph() override;

  Runtime& runtime() const { return *runtime_; }
  /// Unique in the process, never 0.
  uint64_t id() const { return id_; }
  GraphOrigin origin() const { return origin_; }
  /// Names the graph, and for a body the graph that it is part of: whose conditions its kernels may
  /// set.
  uint64_t home() const { return home_; }
  /// For the thread that may change the graph, or when nobody may.
  const std::vector<GraphNode>& nodes() const { return nodes_; }
  /// Appends a node whose dependencies are known to be good; the index names it.
  uint32_t add(GraphNode node);
  /// A node cannot be used for what a body, a capture or an async instantiation has in hand:
  /// CRT_BUSY; after a capture into it failed it is gone (CB21): CRT_DISPOSED.
  Status check_usable() const;
  Status check_mutable() const;
  /// One more user that nothing may change it under.
  void hold() { ++holds_; }
  void let_go() { --holds_; }
  /// A capture into the graph failed, which leaves nothing that could be used.
  void destroy();

  const std::vector<Ref<GraphCondition>>& conditions() const { return conditions_; }
  void add_condition(Ref<GraphCondition> condition);
  bool has_memory_nodes() const;
  bool has_conditions() const { return !conditions_.empty(); }
  /// Null when an executable holds it already.
  std::shared_ptr<ExecLease> take_lease();

  // For the parts of building: core/graph/build.
  /// Edges and switches alone may be changed through it.
  std::vector<GraphNode>& mutable_nodes() { return nodes_; }
  /// What the node does from now on.
  void set_work(uint32_t node, Ref<Work> work);
  /// All nodes, which may then be changed at will, and back.
  std::vector<GraphNode> take_nodes();
  void put_nodes(std::vector<GraphNode> nodes);
  /// Visits the work of each node and the conditions, on any thread: nobody changes meanwhile what
  /// the graph holds. The visitors may take no lock.
  template <typename NodeVisitor, typename ConditionVisitor>
  void visit_held(NodeVisitor on_node, ConditionVisitor on_condition) const {
    LockGuard lock(held_mutex_);
    for (uint32_t i = 0; i < nodes_.size(); ++i) on_node(i, *nodes_[i].work);
    for (const Ref<GraphCondition>& condition : conditions_) on_condition(condition);
  }
  /// The same nodes in a graph of its own.
  Ref<Graph> copy(GraphOrigin origin) const;
  /// The same nodes and conditions as they are now, for an executable.
  Ref<Graph> snapshot() const;
  /// A body of one of this graph's conditional nodes.
  Ref<Graph> make_body() const;

  uint64_t capture_id = 0;  // of the capture that recorded it, if one did
  uint32_t depth = 0;       // of a body: conditional nodes around it
  uint32_t height = 0;      // most child graphs below one another

 private:
  const Ref<Runtime> runtime_;
  const uint64_t id_;
  const GraphOrigin origin_;
  uint64_t home_;
  // Held by whoever changes which nodes there are, what they do, or the conditions; nothing is
  // released with it.
  mutable Mutex held_mutex_;
  std::vector<GraphNode> nodes_;
  std::vector<Ref<GraphCondition>> conditions_;
  std::weak_ptr<ExecLease> lease_;
  std::atomic<uint32_t> holds_{0};
  std::atomic<bool> destroyed_{false};
};

}  // namespace cuda_runtime::core
