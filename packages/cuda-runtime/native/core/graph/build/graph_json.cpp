#include "core/graph/build/graph_json.h"

#include "core/base/json.h"
#include "core/graph/nodes/condition.h"

namespace cuda_runtime::core {
namespace {

void write_graph(JsonWriter& json, const Graph& graph);

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

const char* conditional_name(const Conditional& conditional) {
  if (conditional.type == ConditionalType::kWhile) return "while";
  if (conditional.type == ConditionalType::kSwitch) return "switch";
  return conditional.bodies.size() > 1 ? "if-else" : "if";
}

void write_parts(JsonWriter& json, const Work& work) {
  switch (work.kind) {
    case WorkKind::kKernel:
      write_dims(json, "grid", work.config.grid);
      write_dims(json, "block", work.config.block);
      break;
    case WorkKind::kChild:
      json.key("child");
      write_graph(json, *work.child);
      break;
    case WorkKind::kConditional:
      json.field("conditional", conditional_name(*work.conditional));
      json.key("bodies");
      json.begin_array();
      for (const Ref<Graph>& body : work.conditional->bodies) write_graph(json, *body);
      json.end_array();
      break;
    default:
      json.field("bytes", work.bytes);
  }
}

void write_node(JsonWriter& json, const GraphNode& node, uint64_t id) {
  json.begin_object();
  json.field("id", id);
  json.field("kind", work_kind_name(node.work->kind));
  json.field("label", node.work->label());
  json.field("stream", node.stream_name);
  write_parts(json, *node.work);
  write_accesses(json, *node.work);
  json.end_object();
}

const char* port_name(EdgePort port) {
  if (port == EdgePort::kProgrammatic) return "programmatic";
  return port == EdgePort::kLaunch ? "launch" : "completion";
}

void write_graph(JsonWriter& json, const Graph& graph) {
  const std::vector<GraphNode>& nodes = graph.nodes();
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  for (size_t i = 0; i < nodes.size(); ++i) write_node(json, nodes[i], i);
  json.end_array();
  json.key("edges");
  json.begin_array();
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const GraphDependency& dependency : nodes[i].dependencies) {
      json.begin_object();
      json.field("from", static_cast<uint64_t>(dependency.node));
      json.field("to", static_cast<uint64_t>(i));
      json.field("type", dependency.type == EdgeType::kProgrammatic ? "programmatic" : "full");
      json.field("port", port_name(dependency.port));
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string graph_json(const Graph& graph) {
  JsonWriter json;
  write_graph(json, graph);
  return json.take();
}

std::string node_json(const Graph& graph, uint32_t node) {
  JsonWriter json;
  write_node(json, graph.nodes()[node], node);
  return json.take();
}

}  // namespace cuda_runtime::core
