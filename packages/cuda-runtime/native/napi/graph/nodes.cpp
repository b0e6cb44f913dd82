// graphAddKernel … graphAddFree: the nodes of a graph that is built by hand.
#include "core/graph/build/builder.h"
#include "core/graph/nodes/host_function.h"
#include "core/launch.h"
#include "core/stream/event.h"
#include "napi/arguments.h"
#include "napi/command_block.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Graph;
using core::Ref;
using core::Work;
using core::WorkKind;

/// Adds the work to the graph in argument 0, behind the nodes in argument `after`.
Napi::Value add(const Arguments& in, Ref<Work> work, size_t after) {
  uint32_t node = 0;
  in.finish(core::add_node(*in.record<Graph>(0), std::move(work), in.nodes(after), node));
  return in.number(node);
}

Napi::Value add_kernel(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Graph> graph = in.record<Graph>(0);
  core::LaunchRequest request;
  in.finish(read_node(in.environment().block, request));
  request.kernel = in.record<core::Kernel>(1);
  Ref<Work> work;
  in.finish(core::make_kernel(graph->runtime(), request, work));
  return add(in, std::move(work), 2);
}

Napi::Value add_copy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<Work> work;
  in.finish(core::make_copy(in.record<Graph>(0)->runtime(), {in.memory(1), in.size(2, "toOffset")},
                            {in.memory(3), in.size(4, "fromOffset")}, in.size(5, "bytes"), work));
  return add(in, std::move(work), 6);
}

Napi::Value add_fill(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<Work> work;
  in.finish(core::make_fill(in.record<Graph>(0)->runtime(),
                            {in.memory(1), in.size(2, "byteOffset")},
                            static_cast<uint8_t>(in.up_to(3, "byte", UINT8_MAX)),
                            in.size(4, "bytes"), work));
  return add(in, std::move(work), 5);
}

Napi::Value add_empty(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return add(in, core::make_ref<Work>(WorkKind::kEmpty), 1);
}

Napi::Value add_notify(const Napi::CallbackInfo& info) {
  Arguments in(info);
  auto work = core::make_ref<Work>(WorkKind::kNotify);
  work->sink = in.sink();
  work->token = in.integer(1, "token");
  return add(in, std::move(work), 2);
}

Napi::Value add_event(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const bool records = in.boolean(2);
  auto work = core::make_ref<Work>(records ? WorkKind::kEventRecord : WorkKind::kEventWait);
  work->event = in.record<core::Event>(1);
  return add(in, std::move(work), 3);
}

Napi::Value add_host(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<Work> work;
  in.finish(core::make_host(in.record<Graph>(0)->runtime(), in.record<core::HostFunction>(1), work));
  return add(in, std::move(work), 2);
}

Napi::Value add_child(const Napi::CallbackInfo& info) {
  Arguments in(info);
  uint32_t node = 0;
  in.finish(core::add_child(*in.record<Graph>(0), *in.record<Graph>(1), in.nodes(2), node));
  return in.number(node);
}

Napi::Value create_condition(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<core::GraphCondition> condition;
  in.finish(core::create_condition(*in.record<Graph>(0), in.up_to(1, "initial"), condition));
  return in.handle_of(condition);
}

Napi::Value add_conditional(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::ConditionalRequest request;
  request.condition = in.record<core::GraphCondition>(1);
  const int64_t type = in.integer(2, "type");
  request.type = static_cast<core::ConditionalType>(type < 0 || type > 2 ? 0 : type);
  request.bodies = in.up_to(3, "bodies");
  uint32_t node = 0;
  std::vector<Ref<Graph>> bodies;
  in.finish(core::add_conditional(*in.record<Graph>(0), request, in.nodes(4), node, bodies));
  Napi::Array handles = Napi::Array::New(info.Env(), bodies.size());
  for (uint32_t i = 0; i < bodies.size(); ++i) handles[i] = in.handle_of(bodies[i]);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("node", in.number(node));
  result.Set("bodies", handles);
  return result;
}

Napi::Value add_alloc(const Napi::CallbackInfo& info) {
  Arguments in(info);
  uint32_t node = 0;
  Ref<core::GraphBuffer> buffer;
  in.finish(core::add_alloc(*in.record<Graph>(0), in.size(1, "bytes"), in.string(2), in.nodes(3),
                            node, buffer));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("node", in.number(node));
  result.Set("buffer", in.handle_of(buffer));
  return result;
}

Napi::Value add_free(const Napi::CallbackInfo& info) {
  Arguments in(info);
  uint32_t node = 0;
  in.finish(core::add_free(*in.record<Graph>(0), in.memory(1), in.nodes(2), node));
  return in.number(node);
}

}  // namespace

void export_graph_nodes(Napi::Object& exports) {
  add_method<add_kernel>(exports, "graphAddKernel", "graph.addKernel");
  add_method<add_copy>(exports, "graphAddCopy", "graph.addCopy");
  add_method<add_fill>(exports, "graphAddFill", "graph.addFill");
  add_method<add_empty>(exports, "graphAddEmpty", "graph.addEmpty");
  add_method<add_notify>(exports, "graphAddNotify", "graph.addNotify");
  add_method<add_event>(exports, "graphAddEvent", "graph.addEvent");
  add_method<add_host>(exports, "graphAddHost", "graph.addHost");
  add_method<add_child>(exports, "graphAddChild", "graph.addChild");
  add_method<create_condition>(exports, "createCondition", "graph.createCondition");
  add_method<add_conditional>(exports, "graphAddConditional", "graph.addConditional");
  add_method<add_alloc>(exports, "graphAddAlloc", "graph.addAlloc");
  add_method<add_free>(exports, "graphAddFree", "graph.addFree");
}

}  // namespace cuda_runtime::napi
