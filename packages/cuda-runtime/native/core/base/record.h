// What a handle names.
#pragma once

#include "core/base/ref.h"

namespace cuda_runtime::core {

/// The top four bits of a handle. The kinds of the launch path are small, so that their handles
/// are small integers in JavaScript.
enum class Kind : uint32_t {
  kBuffer = 1,
  kStream = 2,
  kKernel = 3,
  kEvent = 4,
  kExec = 5,
  kGraph = 6,
  kRuntime = 7,
  kModule = 8,
  kHostBuffer = 9,
  kMappedFile = 10,
  kCondition = 11,
  kHostFunction = 12,
};

const char* kind_name(Kind kind);

/// Base of everything that JavaScript can hold.
class Record : public RefCounted {
 public:
  explicit Record(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  /// A wrapper gets a reference; each is dropped by one `on_handle_released`.
  virtual void on_handle_added() {}
  /// The wrapper's reference is about to be dropped; runs on the thread that drops it.
  virtual void on_handle_released() {}

 private:
  const Kind kind_;
};

}  // namespace cuda_runtime::core
