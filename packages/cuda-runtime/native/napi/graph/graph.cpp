// beginCapture … graphAddDependency: captures, and graphs as a whole.
#include "core/graph/build/builder.h"
#include "core/graph/build/graph_json.h"
#include "core/runtime.h"
#include "core/stream/stream.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Graph;
using core::Stream;

int capture_mode(const Arguments& in, size_t i) {
  const int64_t mode = in.integer(i, "mode");
  return mode < 0 || mode > 2 ? -1 : static_cast<int>(mode);
}

Napi::Value begin_capture(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(in.record<Stream>(0)->begin_capture(capture_mode(in, 1)));
  return in.undefined();
}

Napi::Value begin_capture_into(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::CaptureTarget target{in.record<Graph>(2), in.nodes(3)};
  in.finish(in.record<Stream>(0)->begin_capture(capture_mode(in, 1), target));
  return in.undefined();
}

Napi::Value end_capture(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::Ref<Graph> graph;
  in.finish(in.record<Stream>(0)->end_capture(graph));
  return in.handle_of(graph);
}

Napi::Value abort_capture(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.record<Stream>(0)->abort_capture();
  return in.undefined();
}

Napi::Value capture_frontier(const Napi::CallbackInfo& info) {
  Arguments in(info);
  std::vector<uint32_t> nodes;
  in.finish(in.record<Stream>(0)->capture_frontier(nodes));
  Napi::Uint32Array result = Napi::Uint32Array::New(info.Env(), nodes.size());
  std::copy(nodes.begin(), nodes.end(), result.Data());
  return result;
}

Napi::Value set_capture_frontier(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(in.record<Stream>(0)->set_capture_frontier(in.nodes(1), in.boolean(2)));
  return in.undefined();
}

Napi::Value create_graph(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.handle_of(
      core::make_ref<Graph>(in.record<core::Runtime>(0), core::GraphOrigin::kExplicit));
}

Napi::Value graph_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Graph> graph = in.record<Graph>(0);
  in.finish(graph->check_usable());
  return in.text(core::graph_json(*graph));
}

Napi::Value graph_node_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Graph> graph = in.record<Graph>(0);
  const uint64_t node = in.size(1, "node");
  if (node >= graph->nodes().size()) {
    in.finish(core::Status::argument("there is no node " + std::to_string(node)));
  }
  return in.text(core::node_json(*graph, static_cast<uint32_t>(node)));
}

Napi::Value graph_clone(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::Ref<Graph> clone;
  in.finish(core::clone_graph(*in.record<Graph>(0), clone));
  return in.handle_of(clone);
}

Napi::Value graph_add_dependency(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::GraphDependency how;
  const int64_t port = in.integer(4, "port");
  how.node = in.up_to(1, "from");
  how.type = in.boolean(3) ? core::EdgeType::kProgrammatic : core::EdgeType::kFull;
  how.port = static_cast<core::EdgePort>(port < 0 || port > 2 ? 0 : port);
  in.finish(core::add_dependency(*in.record<Graph>(0), how.node, how, in.up_to(2, "to")));
  return in.undefined();
}

}  // namespace

void export_graph(Napi::Object& exports) {
  add_method<begin_capture>(exports, "beginCapture", "stream.beginCapture");
  add_method<begin_capture_into>(exports, "beginCaptureInto", "stream.beginCapture");
  add_method<end_capture>(exports, "endCapture", "stream.endCapture");
  add_method<abort_capture>(exports, "abortCapture", "stream.abortCapture");
  add_method<capture_frontier>(exports, "captureFrontier", "stream.captureInfo");
  add_method<set_capture_frontier>(exports, "setCaptureFrontier", "stream.setCaptureDependencies");
  add_method<create_graph>(exports, "createGraph", "device.createGraph");
  add_method<graph_info>(exports, "graphInfo", "graph.info");
  add_method<graph_node_info>(exports, "graphNodeInfo", "graph.info");
  add_method<graph_clone>(exports, "graphClone", "graph.clone");
  add_method<graph_add_dependency>(exports, "graphAddDependency", "graph.addDependency");
}

}  // namespace cuda_runtime::napi
