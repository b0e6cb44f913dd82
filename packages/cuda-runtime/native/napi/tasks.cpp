// probeAsync … settleTask: calls that would hold up the event loop, on the task thread.
#include "core/backends.h"
#include "core/module.h"
#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/functions.h"
#include "napi/task_thread.h"

namespace cuda_runtime::napi {
namespace {

using core::Ref;
using core::Runtime;
using core::Status;

TaskRequest request_for(const Napi::CallbackInfo& info, const Arguments& in, size_t token) {
  TaskRequest task;
  task.results = in.environment().tasks;
  task.sink = in.sink();
  task.token = in.integer(token, "token");
  task.api = api_of(info);
  return task;
}

Napi::Value probe_async(const Napi::CallbackInfo& info) {
  Arguments in(info);
  TaskRequest task = request_for(info, in, 0);
  task.work = [sink = task.sink, token = task.token](Ref<core::Record>&) {
    const std::string report = core::probe_backends();
    auto bytes = std::make_unique<core::HeapBytes>(report.size());
    report.copy(reinterpret_cast<char*>(bytes->data()), report.size());
    sink->stage(token, std::move(bytes));
    return Status();
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

Napi::Value take_text(const Napi::CallbackInfo& info) {
  Arguments in(info);
  std::string text;
  if (!in.environment().completions->take_text(in.integer(0, "token"), text)) {
    in.finish(Status::argument("no text is there for the token", "Take it once, when it came"));
  }
  return in.text(text);
}

Napi::Value open_runtime_async(const Napi::CallbackInfo& info) {
  Arguments in(info);
  TaskRequest task = request_for(info, in, 2);
  task.work = [backend = in.string(0), options = in.string(1)](Ref<core::Record>& made) {
    Ref<Runtime> runtime;
    Status status = Runtime::open(backend, options, runtime);
    made = std::move(runtime);
    return status;
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

Napi::Value load_module_async(const Napi::CallbackInfo& info) {
  Arguments in(info);
  TaskRequest task = request_for(info, in, 3);
  task.work = [runtime = in.record<Runtime>(0), manifest = in.string(1),
               directory = in.string(2)](Ref<core::Record>& made) {
    Ref<core::Module> module;
    Status status = core::Module::load(*runtime, manifest, directory, module);
    if (status.ok()) runtime->note_module(module->package());
    made = std::move(module);
    return status;
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

Napi::Value alloc_host_async(const Napi::CallbackInfo& info) {
  Arguments in(info);
  TaskRequest task = request_for(info, in, 3);
  task.work = [runtime = in.record<Runtime>(0), bytes = in.size(1, "bytes"),
               most = in.size(2, "most")](Ref<core::Record>& made) {
    // As a thread in relaxed mode does, which harms no capture (CT05).
    Ref<core::Buffer> buffer;
    Status status = check_array_bytes(*runtime, bytes, most);
    if (status.ok()) status = runtime->allocate(bytes, "host", true, buffer);
    made = std::move(buffer);
    return status;
  };
  in.finish(start_task(std::move(task)));
  return in.undefined();
}

Napi::Value settle_task(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<core::Record> made = in.environment().tasks->settle(in.integer(0, "token"));
  return made ? in.handle_of(std::move(made)) : in.number(0);
}

}  // namespace

void export_tasks(Napi::Object& exports) {
  add_method<probe_async>(exports, "probeAsync", "probe");
  add_method<take_text>(exports, "takeText", "probe");
  add_method<open_runtime_async>(exports, "openRuntimeAsync", "open");
  add_method<load_module_async>(exports, "loadModuleAsync", "runtime.loadModule");
  add_method<alloc_host_async>(exports, "allocHostAsync", "device.allocHost");
  add_method<settle_task>(exports, "settleTask", "task");
}

}  // namespace cuda_runtime::napi
