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

using Method = Napi::Value (*)(const Napi::CallbackInfo&);

/// The cheapest kind of function that node-addon-api has: no closure, no allocation per call.
template <Method method>
void add_method(Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<method>(exports.Env(), name));
}

}  // namespace cuda_runtime::napi
