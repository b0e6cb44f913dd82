// The one place where a Status becomes a JavaScript exception.
#pragma once

#include <napi.h>

#include "core/base/status.h"

namespace cuda_runtime::napi {

/// The facts of an allocation that did not fit.
inline void set_memory(Napi::Env env, Napi::Object& object, const core::MemoryFacts& memory) {
  const auto number = [&](uint64_t bytes) {
    return Napi::Number::New(env, static_cast<double>(bytes));
  };
  object.Set("requestedBytes", number(memory.requested));
  object.Set("freeBytes", number(memory.free));
  object.Set("reservedBytes", number(memory.reserved));
  Napi::Array largest = Napi::Array::New(env, memory.largest.size());
  for (size_t i = 0; i < memory.largest.size(); ++i) {
    Napi::Object buffer = Napi::Object::New(env);
    buffer.Set("label", memory.largest[i].first);
    buffer.Set("bytes", number(memory.largest[i].second));
    largest.Set(static_cast<uint32_t>(i), buffer);
  }
  object.Set("largestLive", largest);
}

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
  if (fault.memory) set_memory(env, object, *fault.memory);
  if (*fault.rule != '\0') object.Set("rule", fault.rule);
  // Which call of the past it was, nobody noted.
  if (fault.cause) object.Set("cause", make_error(env, *fault.cause, "an earlier call").Value());
  return error;
}

inline void throw_status(Napi::Env env, const core::Status& status, const char* api) {
  if (!status.ok()) throw make_error(env, status.fault(), api);
}

}  // namespace cuda_runtime::napi
