#include "napi/arguments.h"

#include <cmath>

#include "core/base/failure.h"

namespace cuda_runtime::napi {

using core::Status;

void throw_exception(napi_env env, const char* api) noexcept {
  try {
    const Status status = core::status_of_exception();
    make_error(env, status.fault(), api).ThrowAsJavaScriptException();
  } catch (...) {
    // No memory even for the message.
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (!is_pending) napi_throw_error(env, core::kOutOfMemoryText, api);
  }
}

void Arguments::reject(const char* name, const char* expected) const {
  const Status status =
      Status::argument(std::string("`") + name + "` is not " + expected, "Fix the call");
  throw make_error(info_.Env(), status.fault(), api_);
}

core::Handle Arguments::handle(size_t i) const {
  if (!info_[i].IsNumber()) reject("handle", "a handle");
  return info_[i].As<Napi::Number>().Uint32Value();
}

std::vector<uint32_t> Arguments::nodes(size_t i) const {
  const bool fits = info_[i].IsTypedArray() &&
                    info_[i].As<Napi::TypedArray>().TypedArrayType() == napi_uint32_array;
  if (!fits) reject("after", "a Uint32Array");
  const auto given = info_[i].As<Napi::Uint32Array>();
  return {given.Data(), given.Data() + given.ElementLength()};
}

core::Ref<core::Buffer> Arguments::named_memory(core::Handle given) const {
  if (given >> 28 != static_cast<uint32_t>(core::Kind::kHostBuffer)) {
    return named<core::Buffer>(given);
  }
  core::Ref<core::Record> found;
  finish(core::HandleTable::instance().find(given, core::Kind::kHostBuffer, found));
  return core::Ref<core::Buffer>(static_cast<core::Buffer*>(found.get()));
}

uint64_t Arguments::size(size_t i, const char* name) const {
  const int64_t value = integer(i, name);
  if (value < 0) reject(name, "0 or more");
  return static_cast<uint64_t>(value);
}

int64_t Arguments::integer(size_t i, const char* name) const {
  if (!info_[i].IsNumber()) reject(name, "a number");
  const double value = info_[i].As<Napi::Number>().DoubleValue();
  constexpr double kLargest = 9'007'199'254'740'992.0;
  if (!(std::abs(value) <= kLargest) || value != std::floor(value)) reject(name, "an integer");
  return static_cast<int64_t>(value);
}

uint32_t Arguments::up_to(size_t i, const char* name, uint32_t most) const {
  const int64_t value = integer(i, name);
  if (value < 0 || value > most) {
    reject(name, ("an integer from 0 to " + std::to_string(most)).c_str());
  }
  return static_cast<uint32_t>(value);
}

std::string Arguments::string(size_t i) const {
  return info_[i].IsString() ? info_[i].As<Napi::String>().Utf8Value() : std::string();
}

Napi::Uint8Array Arguments::bytes(size_t i, const char* name) const {
  const bool fits = info_[i].IsTypedArray() &&
                    info_[i].As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
  if (!fits) reject(name, "a Uint8Array");
  return info_[i].As<Napi::Uint8Array>();
}

Napi::Function Arguments::function(size_t i, const char* name) const {
  if (!info_[i].IsFunction()) reject(name, "a function");
  return info_[i].As<Napi::Function>();
}

core::Ref<core::CompletionSink> Arguments::sink() const {
  if (environment().block == nullptr) reject("environment", "initialized");
  return environment().completions;
}

void Arguments::check_device(size_t i) const {
  if (integer(i, "device") == 0) return;
  finish(Status::error("CRT_ARGUMENT", core::kInvalidDevice,
                       "`device` is " + std::to_string(integer(i, "device")) + ", expected 0",
                       "The backend has one device"));
}

}  // namespace cuda_runtime::napi
