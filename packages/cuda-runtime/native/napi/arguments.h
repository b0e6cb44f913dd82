// Typed access to the arguments of a call. Checks what would crash; TypeScript has checked what a
// caller can get wrong.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "core/base/handle_table.h"
#include "napi/environment.h"
#include "napi/functions.h"
#include "napi/throw_status.h"

namespace cuda_runtime::napi {

class Arguments {
 public:
  explicit Arguments(const Napi::CallbackInfo& info) : info_(info), api_(api_of(info)) {}

  Napi::Env env() const { return info_.Env(); }
  Environment& environment() const { return Environment::of(info_.Env()); }

  template <typename T>
  core::Ref<T> record(size_t i) const {
    return named<T>(handle(i));
  }
  template <typename T>
  core::Ref<T> named(core::Handle handle) const {
    core::Ref<T> result;
    finish(core::HandleTable::instance().get<T>(handle, result));
    return result;
  }
  /// A device or host buffer.
  core::Ref<core::Buffer> memory(size_t i) const { return named_memory(handle(i)); }
  core::Ref<core::Buffer> named_memory(core::Handle handle) const;
  /// Indices of nodes, from a Uint32Array.
  std::vector<uint32_t> nodes(size_t i) const;
  core::Handle handle(size_t i) const;
  /// A count of bytes: an integer from 0 to 2^53.
  uint64_t size(size_t i, const char* name) const;
  int64_t integer(size_t i, const char* name) const;
  /// An integer from 0 to `most`, which nothing narrower than `most` may be given.
  uint32_t up_to(size_t i, const char* name, uint32_t most = UINT32_MAX) const;
  bool boolean(size_t i) const { return info_[i].ToBoolean(); }
  std::string string(size_t i) const;
  Napi::Uint8Array bytes(size_t i, const char* name) const;
  Napi::Function function(size_t i, const char* name) const;
  /// Where completions go; an error before `initialize`.
  core::Ref<core::CompletionSink> sink() const;
  void check_device(size_t i) const;

  void finish(const core::Status& status) const { throw_status(info_.Env(), status, api_); }
  Napi::Value undefined() const { return info_.Env().Undefined(); }
  Napi::Value text(const std::string& value) const {
    return Napi::String::New(info_.Env(), value);
  }
  Napi::Value number(double value) const { return Napi::Number::New(info_.Env(), value); }
  /// Makes a handle of this environment.
  Napi::Value handle_of(core::Ref<core::Record> record) const {
    return number(environment().add(std::move(record)));
  }

 private:
  [[noreturn]] void reject(const char* name, const char* expected) const;

  const Napi::CallbackInfo& info_;
  const char* const api_;
};

}  // namespace cuda_runtime::napi
