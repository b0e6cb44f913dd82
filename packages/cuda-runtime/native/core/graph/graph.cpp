#include "core/graph/graph.h"

#include <atomic>

#include "core/base/json.h"
#include "core/runtime.h"

namespace cuda_runtime::core {
namespace {

std::atomic<uint64_t> next_graph_id{1};

void write_accesses(JsonWriter& json, const Work& work) {
  json.key("accesses");
  json.begin_array();
  for (const Access& access : work.accesses) {
    json.begin_object();
    json.field("buffer", access.buffer->describe());
    json.field("begin", access.begin);
    json.field("end", access.end);
    json.field("mode", access.mode == kRead ? "r" : access.mode == kWrite ? "w" : "rw");
    json.end_object();
  }
  json.end_array();
}

void write_dims(JsonWriter& json, const char* name, const Dim3& dims) {
  json.key(name);
  json.begin_array();
  for (const uint32_t size : {dims.x, dims.y, dims.z}) json.value(static_cast<uint64_t>(size));
  json.end_array();
}

void write_node(JsonWriter& json, const GraphNode& node, uint64_t id) {
  json.begin_object();
  json.field("id", id);
  json.field("kind", work_kind_name(node.work->kind));
  json.field("label", node.work->label());
  json.field("stream", node.stream_name);
  if (node.work->kind == WorkKind::kKernel) {
    write_dims(json, "grid", node.work->config.grid);
    write_dims(json, "block", node.work->config.block);
  } else {
    json.field("bytes", node.work->bytes);
  }
  write_accesses(json, *node.work);
  json.end_object();
}

}  // namespace

Graph::Graph(Ref<Runtime> runtime)
    : Record(kKind), runtime_(std::move(runtime)), id_(next_graph_id.fetch_add(1)) {
  runtime_->live().add(kKind);
}

Graph::~Graph() { runtime_->live().remove(kKind); }

uint32_t Graph::add(GraphNode node) {
  nodes_.push_back(std::move(node));
  return static_cast<uint32_t>(nodes_.size() - 1);
}

std::string Graph::to_json() const {
  JsonWriter json;
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  for (size_t i = 0; i < nodes_.size(); ++i) write_node(json, nodes_[i], i);
  json.end_array();
  json.key("edges");
  json.begin_array();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const GraphDependency& dependency : nodes_[i].dependencies) {
      const bool programmatic = dependency.type == EdgeType::kProgrammatic;
      json.begin_object();
      json.field("from", static_cast<uint64_t>(dependency.node));
      json.field("to", static_cast<uint64_t>(i));
      json.field("type", programmatic ? "programmatic" : "full");
      json.field("port", programmatic ? "programmatic" : "completion");
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace cuda_runtime::core
