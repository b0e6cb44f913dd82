// buildInfo … release: the runtime as a whole.
#include "core/runtime.h"

#include <algorithm>

#include "core/backends.h"
#include "core/check/audit/audit.h"
#include "core/check/nvtx.h"
#include "cuda_runtime/abi.h"
#include "napi/arguments.h"
#include "napi/functions.h"
#include "version.h"

namespace cuda_runtime::napi {
namespace {

using core::Runtime;

Napi::Value build_info(const Napi::CallbackInfo& info) {
  core::JsonWriter json;
  json.begin_object();
  json.field("version", CRT_VERSION);
  json.field("abi", static_cast<uint64_t>(CRT_ABI_VERSION));
  json.field("napi", static_cast<int64_t>(NAPI_VERSION));
#ifdef CRT_WITH_CUDA
  json.field("cuda", true);
  json.field("cudaRuntimeVersion", CRT_WITH_CUDA);
#else
  json.field("cuda", false);
  json.field("cudaRuntimeVersion", "");
#endif
  json.end_object();
  return Napi::String::New(info.Env(), json.take());
}

Napi::Value probe(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), core::probe_backends());
}

Napi::Value initialize(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.environment().initialize(info.Env(), in.function(0, "onCompletion"));
}

Napi::Value ref_completions(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.environment().completions->keep_alive(info.Env(), in.boolean(0));
  return in.undefined();
}

Napi::Value open_runtime(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::Ref<Runtime> runtime;
  in.finish(Runtime::open(in.string(0), in.string(1), runtime));
  return in.handle_of(runtime);
}

/// Drops the handle in argument 0: a reference that may be the last.
core::Ref<Runtime> take_runtime(const Arguments& in) {
  core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.finish(core::HandleTable::instance().remove(in.handle(0)));
  auto& opened = in.environment().runtimes;
  const auto found = std::find(opened.begin(), opened.end(), runtime);
  if (found != opened.end()) opened.erase(found);
  return runtime;
}

Napi::Value close_runtime(const Napi::CallbackInfo& info) {
  Arguments in(info);
  take_runtime(in);
  return in.undefined();
}

// Ends of threads and unmapped memory take time that the event loop has not.
Napi::Value forget_runtime(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Status started = TaskThread::instance().run([runtime = take_runtime(in)] {});
  (void)started;  // without a thread it ended here
  return in.undefined();
}

Napi::Value describe_runtime(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.text(in.record<Runtime>(0)->describe());
}

Napi::Value stats(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.text(in.record<Runtime>(0)->statistics());
}

Napi::Value audit(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.text(core::audit(*in.record<Runtime>(0), in.environment().id()));
}

Napi::Value device_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.check_device(1);
  return in.text(runtime->device_info());
}

// Gives the array's reference back here: its finalizer runs some turns of the event loop later. The
// memory of an array that was detached before moved to another one, and is in use there.
void detach(const HostArray& host) {
  Napi::ArrayBuffer array = host.array.Value();
  if (array.IsEmpty() || array.IsUndefined() || array.IsDetached()) return;
  if (host.kept == nullptr) return array.Detach();
  // Taken first, since the finalizer may free `kept`; the memory goes after the array lost it.
  ArrayMemory memory;
  std::swap(memory, *host.kept);
  try {
    array.Detach();
  } catch (...) {
    std::swap(memory, *host.kept);
    throw;
  }
}

Napi::Value release(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Handle handle = in.handle(0);
  if (handle >> 28 == static_cast<uint32_t>(core::Kind::kHostBuffer)) {
    auto& arrays = in.environment().host_arrays;
    const auto found = arrays.find(handle);
    if (found != arrays.end()) {
      detach(found->second);
      arrays.erase(found);
    }
  }
  in.finish(core::HandleTable::instance().remove(handle));
  return in.undefined();
}

Napi::Value trace_start(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const auto mode = in.boolean(1) ? core::TraceMode::kGraph : core::TraceMode::kOperations;
  in.finish(in.record<Runtime>(0)->start_trace(mode, in.boolean(2)));
  return in.undefined();
}

Napi::Value trace_stop(const Napi::CallbackInfo& info) {
  Arguments in(info);
  std::string recorded;
  in.finish(in.record<Runtime>(0)->stop_trace(recorded));
  return in.text(recorded);
}

Napi::Value nvtx_is_on(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), core::nvtx_is_on());
}

Napi::Value nvtx_push(const Napi::CallbackInfo& info) {
  Arguments in(info);
  core::nvtx_push(in.string(0).c_str());
  return in.undefined();
}

Napi::Value nvtx_pop(const Napi::CallbackInfo& info) {
  core::nvtx_pop();
  return info.Env().Undefined();
}

Napi::Value watch_loss(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.record<Runtime>(0)->backend().device_loss().watch(in.sink(), in.integer(1, "token"));
  return in.undefined();
}

Napi::Value check_loss(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(in.record<Runtime>(0)->backend().device_loss().status());
  return in.undefined();
}

/// An empty text: nobody knows.
Napi::Value set_origin(const Napi::CallbackInfo& info) {
  Arguments in(info);
  std::string stack = in.string(0);
  core::set_origin(stack.empty() ? nullptr
                                 : std::make_shared<const std::string>(std::move(stack)));
  return in.undefined();
}

Napi::Value take_races(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  if (in.boolean(1)) runtime->backend().check_guards();
  return in.text(runtime->races().take());
}

Napi::Value inject_fault(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  core::JsonValue rule;
  std::string error;
  if (!core::parse_json(in.string(1), rule, error)) {
    in.finish(core::Status::argument("`rule` is " + error));
  }
  in.finish(runtime->backend().inject(rule));
  return in.undefined();
}

}  // namespace

void export_runtime(Napi::Object& exports) {
  add_method<build_info>(exports, "buildInfo", "buildInfo");
  add_method<probe>(exports, "probe", "probe");
  add_method<initialize>(exports, "initialize", "initialize");
  add_method<ref_completions>(exports, "refCompletions", "refCompletions");
  add_method<open_runtime>(exports, "openRuntime", "open");
  add_method<close_runtime>(exports, "closeRuntime", "runtime.close");
  add_method<forget_runtime>(exports, "forgetRuntime", "runtime.close");
  add_method<describe_runtime>(exports, "describeRuntime", "runtime.describe");
  add_method<stats>(exports, "stats", "runtime.stats");
  add_method<audit>(exports, "audit", "runtime.audit");
  add_method<device_info>(exports, "deviceInfo", "runtime.device");
  add_method<release>(exports, "release", "release");
  add_method<trace_start>(exports, "traceStart", "trace.start");
  add_method<trace_stop>(exports, "traceStop", "trace.stop");
  add_method<nvtx_is_on>(exports, "nvtxIsOn", "nvtx");
  add_method<nvtx_push>(exports, "nvtxPush", "nvtx.range");
  add_method<nvtx_pop>(exports, "nvtxPop", "nvtx.range");
  add_method<inject_fault>(exports, "injectFault", "injectFaults");
  add_method<watch_loss>(exports, "watchLoss", "runtime.onDeviceLost");
  add_method<check_loss>(exports, "checkLoss", "runtime.onDeviceLost");
  add_method<set_origin>(exports, "setOrigin", "runtime.races");
  add_method<take_races>(exports, "takeRaces", "runtime.races");
}

}  // namespace cuda_runtime::napi
