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

Napi::Value launch(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  core::LaunchRequest request = read_launch(in, 1);
  request.stream = stream.get();
  in.finish(core::launch(request));
  return in.undefined();
}

Napi::Value module_host_function(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Command command = read_command(in);
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
  add_method<launch>(exports, "launch", "stream.launch");
  add_method<module_host_function>(exports, "moduleHostFunction", "module.hostFunction");
  add_method<stream_host>(exports, "streamHost", "stream.host");
}

}  // namespace cuda_runtime::napi
