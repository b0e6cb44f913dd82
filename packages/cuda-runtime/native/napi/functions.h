// The functions of the addon, by the file that defines them; each adds its own to the exports.
#pragma once

#include <napi.h>

namespace cuda_runtime::napi {

void export_runtime(Napi::Object& exports);
void export_stream(Napi::Object& exports);
void export_event(Napi::Object& exports);
void export_memory(Napi::Object& exports);
void export_kernel(Napi::Object& exports);
void export_graph(Napi::Object& exports);
void export_file(Napi::Object& exports);
void export_tasks(Napi::Object& exports);
void export_handles(Napi::Object& exports);
void export_graph_nodes(Napi::Object& exports);
void export_graph_exec(Napi::Object& exports);

using Method = Napi::Value (*)(const Napi::CallbackInfo&);

/// The public call that a function of the addon serves, e.g. `device.alloc`.
inline const char* api_of(const Napi::CallbackInfo& info) {
  return static_cast<const char*>(info.Data());
}

/// Turns the C++ exception that is being handled into a pending JavaScript one.
void throw_exception(napi_env env, const char* api) noexcept;

// node-addon-api only knows its own exceptions; any other would end the process.
template <Method method>
Napi::Value call(const Napi::CallbackInfo& info) {
  try {
    return method(info);
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw_exception(info.Env(), api_of(info));
    return {};
  }
}

/// The cheapest kind of function that node-addon-api has: no closure, no allocation per call.
template <Method method>
void add_method(Napi::Object& exports, const char* name, const char* api) {
  exports.Set(name,
              Napi::Function::New<call<method>>(exports.Env(), name, const_cast<char*>(api)));
}

/// A function that reads its arguments itself, and lets nothing through but a pending exception.
inline void add_plain_method(Napi::Object& exports, const char* name, napi_callback method) {
  napi_value function = nullptr;
  const napi_status status =
      napi_create_function(exports.Env(), name, NAPI_AUTO_LENGTH, method, nullptr, &function);
  if (status != napi_ok) throw Napi::Error::New(exports.Env());
  exports.Set(name, function);
}

}  // namespace cuda_runtime::napi
