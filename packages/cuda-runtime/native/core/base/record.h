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

/// One more than the largest kind.
inline constexpr size_t kKinds = 13;

const char* kind_name(Kind kind);

/// A number that no record had before, in this process.
uint64_t next_record_id();

/// Base of everything that JavaScript can hold.
class Record : public RefCounted {
 public:
  explicit Record(Kind kind) : kind_(kind), record_id_(next_record_id()) {}
  Kind kind() const { return kind_; }
  /// Unique in the process, never reused, never 0.
  uint64_t record_id() const { return record_id_; }
  /// A wrapper gets a reference; each is dropped by one `on_handle_released`.
  virtual void on_handle_added() {}
  /// The wrapper's reference is about to be dropped; runs on the thread that drops it.
  virtual void on_handle_released() {}

 private:
  friend class LiveRecords;

  const Kind kind_;
  const uint64_t record_id_;
  // Of the list that it is in; that list's to change.
  Record* next_live_ = nullptr;
  Record* previous_live_ = nullptr;
};

}  // namespace cuda_runtime::core
