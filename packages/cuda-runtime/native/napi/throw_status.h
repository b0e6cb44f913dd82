// The one place where a Status becomes a JavaScript exception.
#pragma once

#include <napi.h>

#include "core/base/status.h"

namespace cuda_runtime::napi {

/// An Error with the fields of `NativeFault` (src/native/binding.ts).
inline Napi::Error make_error(Napi::Env env, const core::Fault& fault, const char* api) {
  Napi::Error error = Napi::Error::New(env, std::string(api) + ": " + fault.detail);
  Napi::Object object = error.Value();
  object.Set("code", fault.code);
  object.Set("api", api);
  object.Set("number", fault.number);
  object.Set("detail", fault.detail);
  object.Set("hint", fault.hint);
  object.Set("stream", fault.stream);
  object.Set("captureId", Napi::BigInt::New(env, fault.capture_id));
  if (!fault.reason.empty()) object.Set("reason", fault.reason);
  if (*fault.rule != '\0') object.Set("rule", fault.rule);
  return error;
}

inline void throw_status(Napi::Env env, const core::Status& status, const char* api) {
  if (!status.ok()) throw make_error(env, status.fault(), api);
}

}  // namespace cuda_runtime::napi
