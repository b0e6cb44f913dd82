// beginCapture … graphExecLaunches.
#include "core/graph/exec.h"
#include "core/stream/stream.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Exec;
using core::Graph;
using core::Stream;

Napi::Value begin_capture(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const int64_t mode = in.integer(1, "mode");
  in.finish(stream->begin_capture(mode < 0 || mode > 2 ? -1 : static_cast<int>(mode)));
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

Napi::Value graph_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.text(in.record<Graph>(0)->to_json());
}

Napi::Value instantiate(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::Ref<Exec> exec;
  in.finish(Exec::instantiate(in.record<Graph>(0), exec));
  return in.handle_of(exec);
}

Napi::Value graph_launch(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Exec> exec = in.record<Exec>(0);
  const core::Ref<Stream> stream = in.record<Stream>(1);
  in.finish(exec->launch(*stream));
  return in.undefined();
}

Napi::Value graph_exec_launches(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.number(static_cast<double>(in.record<Exec>(0)->launches()));
}

}  // namespace

void export_graph(Napi::Object& exports) {
  add_method<begin_capture>(exports, "beginCapture", "stream.beginCapture");
  add_method<end_capture>(exports, "endCapture", "stream.endCapture");
  add_method<abort_capture>(exports, "abortCapture", "stream.abortCapture");
  add_method<graph_info>(exports, "graphInfo", "graph.info");
  add_method<instantiate>(exports, "instantiate", "graph.instantiate");
  add_method<graph_launch>(exports, "graphLaunch", "graphExec.launch");
  add_method<graph_exec_launches>(exports, "graphExecLaunches", "graphExec.launches");
}

}  // namespace cuda_runtime::napi
