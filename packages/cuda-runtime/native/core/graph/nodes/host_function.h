// A native function that runs in stream order on the device's one callback thread. It holds its
// stream until it returns and may not use the runtime (CH01).
#pragma once

#include "core/base/record.h"
#include "core/base/status.h"
#include "core/module.h"
#include "core/buffer_argument.h"
#include "core/work.h"

namespace cuda_runtime::core {

/// A function of a package's CPU library with the arguments that it gets at each call.
class HostFunction : public Record {
 public:
  static constexpr Kind kKind = Kind::kHostFunction;
  using Entry = void (*)(const void* params);

  /// `module` keeps the code mapped; null for a function of this process.
  HostFunction(std::string name, Entry entry, Ref<Module> module = nullptr)
      : Record(kKind), name(std::move(name)), entry(entry), module(std::move(module)) {}
  ~HostFunction() override;

  /// Audits list it from now on: it has a module, and its accesses change no more.
  void list();

  /// Runs it; whatever it calls of the runtime answers CRT_IN_CALLBACK.
  void call() const;

  const std::string name;
  const Entry entry;
  const Ref<Module> module;
  ParameterBlock params;
  InlineVector<Access, 4> accesses;

 private:
  bool is_listed_ = false;
};

/// A host function of a module with its arguments: the struct with zeros where pointers go.
struct HostRequest {
  std::string name;
  InlineVector<BufferArgument, 8> buffers;  // of host memory
  const uint8_t* params = nullptr;
  uint32_t params_bytes = 0;
};

Status make_host_function(Module& module, const HostRequest& request, Ref<HostFunction>& function);

/// An error when this thread is inside a host function: 800.
Status check_not_in_callback();

}  // namespace cuda_runtime::core
