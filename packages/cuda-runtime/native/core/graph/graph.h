// A graph of operations: what a capture recorded. Nodes are in a topological order, since a node
// can only depend on earlier ones. Retains everything that its nodes use (L7).
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/base/status.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Runtime;

enum class EdgeType : uint8_t { kFull, kProgrammatic };

/// The end of an edge that leads from `node`.
struct GraphDependency {
  uint32_t node = 0;
  EdgeType type = EdgeType::kFull;
};

struct GraphNode {
  Ref<Work> work;
  std::string stream_name;  // where it was captured, for pictures and timelines
  uint64_t stream_id = 0;
  int stream_priority = 0;
  std::vector<GraphDependency> dependencies;
};

class Graph : public Record {
 public:
  static constexpr Kind kKind = Kind::kGraph;

  explicit Graph(Ref<Runtime> runtime);
  ~Graph() override;

  Runtime& runtime() const { return *runtime_; }
  /// Unique in the process, never 0.
  uint64_t id() const { return id_; }
  const std::vector<GraphNode>& nodes() const { return nodes_; }
  /// Appends a node; the index names it.
  uint32_t add(GraphNode node);
  /// JSON of nodes and edges for `graphInfo`.
  std::string to_json() const;

  uint64_t capture_id = 0;  // of the capture that recorded it, if one did

 private:
  const Ref<Runtime> runtime_;
  const uint64_t id_;
  std::vector<GraphNode> nodes_;
};

}  // namespace cuda_runtime::core
