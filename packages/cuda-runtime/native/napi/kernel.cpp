// loadModule … streamHost.
#include "core/graph/nodes/host_function.h"
#include "core/launch.h"
#include "core/module.h"
#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/command_block.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::HostFunction;
using core::Kernel;
using core::Module;
using core::Stream;

Napi::Value load_module(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<core::Runtime> runtime = in.record<core::Runtime>(0);
  core::Ref<Module> module;
  in.finish(Module::load(*runtime, in.string(1), in.string(2), module));
  runtime->note_module(module->package());
  return in.handle_of(module);
}

Napi::Value module_kernel(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Module>(0)->kernel(in.string(1));
  return kernel ? in.handle_of(kernel) : in.number(0);
}

Napi::Value kernel_code(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Kernel>(0);
  core::JsonWriter json;
  json.begin_object();
  in.finish(kernel->module().runtime().backend().describe_kernel(*kernel, json));
  json.end_object();
  return in.text(json.take());
}

Napi::Value kernel_occupancy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Kernel> kernel = in.record<Kernel>(0);
  int blocks = 0;
  in.finish(kernel->module().runtime().backend().occupancy(
      *kernel, in.up_to(1, "block"), in.size(2, "sharedBytes"), blocks));
  return in.number(blocks);
}

// The hottest call of all: without arguments and with nothing of node-addon-api around it.
napi_value launch(napi_env env, napi_callback_info) noexcept {
  constexpr const char* kApi = "stream.launch";
  try {
    void* environment = nullptr;
    napi_get_instance_data(env, &environment);
    core::LaunchRequest request;
    core::Status status = read_launch(static_cast<Environment*>(environment)->block, request);
    if (status.ok()) status = core::launch(request);
    throw_status(env, status, kApi);
  } catch (const Napi::Error& error) {
    error.ThrowAsJavaScriptException();
  } catch (...) {
    throw_exception(env, kApi);
  }
  return nullptr;  // undefined
}

Napi::Value module_host_function(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::LaunchRequest command;
  in.finish(read_arguments(in.environment().block, command));
  core::HostRequest request;
  request.name = in.string(1);
  request.buffers = std::move(command.buffers);
  request.params = command.params;
  request.params_bytes = command.params_bytes;
  core::Ref<HostFunction> function;
  in.finish(core::make_host_function(*in.record<Module>(0), request, function));
  return in.handle_of(function);
}

Napi::Value stream_host(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::host(*stream, in.record<HostFunction>(1)));
  return in.undefined();
}

}  // namespace

void export_kernel(Napi::Object& exports) {
  add_method<load_module>(exports, "loadModule", "runtime.loadModule");
  add_method<module_kernel>(exports, "moduleKernel", "module.kernel");
  add_method<kernel_code>(exports, "kernelCode", "kernel.code");
  add_method<kernel_occupancy>(exports, "kernelOccupancy", "kernel.occupancy");
  add_plain_method(exports, "launch", launch);
  add_method<module_host_function>(exports, "moduleHostFunction", "module.hostFunction");
  add_method<stream_host>(exports, "streamHost", "stream.host");
}

}  // namespace cuda_runtime::napi
