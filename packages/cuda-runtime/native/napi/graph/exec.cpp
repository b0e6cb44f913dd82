// instantiate … graphExecSetEnabled: executables.
#include "core/graph/exec.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/update/change.h"
#include "core/launch.h"
#include "napi/arguments.h"
#include "napi/command_block.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Exec;
using core::Graph;
using core::Ref;
using core::Stream;
using core::Work;

core::ExecOptions read_options(const Arguments& in) {
  core::ExecOptions options;
  options.auto_free = in.boolean(1);
  options.node_priority = in.boolean(2);
  return options;
}

Napi::Value instantiate(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<Exec> exec;
  in.finish(Exec::instantiate(in.record<Graph>(0), exec, read_options(in)));
  return in.handle_of(exec);
}

constexpr const char* kInstantiation = "instantiation";

/// While it exists, nobody may change the graphs.
class Hold {
 public:
  explicit Hold(std::vector<Ref<Graph>> graphs) : graphs_(std::move(graphs)) {
    for (const Ref<Graph>& graph : graphs_) notes_.emplace_back(kInstantiation, *graph);
    for (const Ref<Graph>& graph : graphs_) graph->hold();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    for (const Ref<Graph>& graph : graphs_) graph->let_go();
  }

 private:
  const std::vector<Ref<Graph>> graphs_;
  std::vector<core::HoldNote> notes_;
};

/// What the task thread makes an executable of.
struct Instantiation {
  core::ExecDraft draft;
  core::HoldNote note;
};

Napi::Value instantiate_async(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Graph> graph = in.record<Graph>(0);
  auto begun = std::make_shared<Instantiation>();
  in.finish(Exec::draft(*graph, read_options(in), begun->draft));
  begun->note = core::HoldNote(kInstantiation, *begun->draft.flat);
  TaskRequest task;
  task.results = in.environment().tasks;
  task.sink = in.sink();
  task.token = in.integer(3, "token");
  task.api = "graph.instantiate";
  // Until JavaScript has been told the end.
  task.held = std::make_shared<Hold>(core::with_bodies(graph));
  task.work = [begun](Ref<core::Record>& made) {
    const core::HoldNote note = std::move(begun->note);
    Ref<Exec> exec;
    core::Status status = Exec::complete(std::move(begun->draft), exec);
    made = exec;
    return status;
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

Napi::Value graph_launch(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Exec> exec = in.record<Exec>(0);
  const Ref<Stream> stream = in.record<Stream>(1);
  in.finish(exec->launch(*stream));
  return in.undefined();
}

Napi::Value graph_upload(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Exec> exec = in.record<Exec>(0);
  in.finish(exec->upload(*in.record<Stream>(1)));
  return in.undefined();
}

Napi::Value graph_exec_launches(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.number(static_cast<double>(in.record<Exec>(0)->launches()));
}

Napi::Value update(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::UpdateReport report;
  in.finish(core::update_exec(*in.record<Exec>(0), *in.record<Graph>(1), report));
  Napi::Object result = Napi::Object::New(info.Env());
  const auto node = [&](uint32_t index) {
    return index == core::kNoNode ? info.Env().Undefined() : in.number(index);
  };
  result.Set("result", in.number(static_cast<int>(report.result)));
  result.Set("node", node(report.node));
  result.Set("fromNode", node(report.from_node));
  result.Set("detail", report.detail);
  return result;
}

Napi::Value driver_dot(const Napi::CallbackInfo& info) {
  Arguments in(info);
  TaskRequest task;
  task.results = in.environment().tasks;
  task.sink = in.sink();
  const bool verbose = in.boolean(1);
  task.token = in.integer(2, "token");
  task.api = api_of(info);
  task.work = [exec = in.record<Exec>(0), verbose, sink = task.sink,
               token = task.token](Ref<core::Record>&) {
    std::string text;
    core::Status status = exec->runtime().backend().driver_dot(*exec, verbose, text);
    if (!status.ok()) return status;
    auto bytes = std::make_unique<core::HeapBytes>(text.size());
    text.copy(reinterpret_cast<char*>(bytes->data()), text.size());
    sink->stage(token, std::move(bytes));
    return status;
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

uint32_t node_of(const Arguments& in) { return in.up_to(1, "node"); }

Napi::Value set_kernel(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Exec> exec = in.record<Exec>(0);
  core::LaunchRequest request;
  in.finish(read_node(in.environment().block, request));
  request.kernel = in.record<core::Kernel>(2);
  Ref<Work> work;
  in.finish(core::make_kernel(exec->runtime(), request, work));
  in.finish(core::set_work(*exec, node_of(in), std::move(work)));
  return in.undefined();
}

Napi::Value set_copy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Exec> exec = in.record<Exec>(0);
  Ref<Work> work;
  in.finish(core::make_copy(exec->runtime(), {in.memory(2), in.size(3, "toOffset")},
                            {in.memory(4), in.size(5, "fromOffset")}, in.size(6, "bytes"), work));
  in.finish(core::set_work(*exec, node_of(in), std::move(work)));
  return in.undefined();
}

Napi::Value set_fill(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<Exec> exec = in.record<Exec>(0);
  Ref<Work> work;
  in.finish(core::make_fill(exec->runtime(), {in.memory(2), in.size(3, "byteOffset")},
                            static_cast<uint8_t>(in.up_to(4, "byte", UINT8_MAX)),
                            in.size(5, "bytes"), work));
  in.finish(core::set_work(*exec, node_of(in), std::move(work)));
  return in.undefined();
}

Napi::Value set_enabled(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(core::set_enabled(*in.record<Exec>(0), node_of(in), in.boolean(2)));
  return in.undefined();
}

}  // namespace

void export_graph_exec(Napi::Object& exports) {
  add_method<instantiate>(exports, "instantiate", "graph.instantiate");
  add_method<instantiate_async>(exports, "instantiateAsync", "graph.instantiate");
  add_method<graph_launch>(exports, "graphLaunch", "graphExec.launch");
  add_method<graph_upload>(exports, "graphUpload", "graphExec.upload");
  add_method<graph_exec_launches>(exports, "graphExecLaunches", "graphExec.launches");
  add_method<driver_dot>(exports, "graphExecDriverDot", "graphExec.driverDot");
  add_method<update>(exports, "graphExecUpdate", "graphExec.update");
  add_method<set_kernel>(exports, "graphExecSetKernel", "graphExec.setKernel");
  add_method<set_copy>(exports, "graphExecSetCopy", "graphExec.setCopy");
  add_method<set_fill>(exports, "graphExecSetFill", "graphExec.setFill");
  add_method<set_enabled>(exports, "graphExecSetEnabled", "graphExec.setEnabled");
}

}  // namespace cuda_runtime::napi
