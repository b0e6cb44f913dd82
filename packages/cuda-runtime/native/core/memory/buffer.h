// Memory that work reads and writes: a device buffer, or a host buffer that copies may name.
#pragma once

#include <memory>
#include <string>

#include "core/base/record.h"

namespace cuda_runtime::core {

class Runtime;
class AccessHistory;
class GraphBuffer;

/// Freed when the last reference goes: the wrapper's, those of operations in flight, those of
/// graphs. That is the earliest moment at which no submitted work can touch the memory (L5, L7).
class Buffer : public Record {
 public:
  static constexpr Kind kKind = Kind::kBuffer;

  Buffer(Kind kind, Ref<Runtime> runtime, uint8_t* data, uint64_t bytes, std::string label);
  ~Buffer() override;

  Runtime& runtime() const { return *runtime_; }
  /// Itself when a graph allocates it, else null.
  virtual GraphBuffer* as_graph_buffer() { return nullptr; }
  uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  const std::string& label() const { return label_; }
  /// "weights (4096 bytes)" for messages.
  std::string describe() const;
  /// What the race checker knows of it; null until it looked.
  std::unique_ptr<AccessHistory> history;

 private:
  Ref<Runtime> runtime_;
  uint8_t* const data_;  // null when bytes is 0
  const uint64_t bytes_;
  const std::string label_;
};

enum AccessMode : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

/// The bytes [begin, end) of a buffer that an operation touches.
struct Access {
  Ref<Buffer> buffer;
  uint64_t begin = 0;
  uint64_t end = 0;
  AccessMode mode = kRead;
};

}  // namespace cuda_runtime::core
