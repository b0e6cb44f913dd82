// Memory between JavaScript's bytes and a device's, owned by the runtime: no other thread and no
// copy ever holds a pointer into memory that V8 owns.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace cuda_runtime::core {

/// Bytes on their way to or from a device; a backend decides what memory they lie in.
class StagedBytes {
 public:
  StagedBytes(uint8_t* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;
  virtual ~StagedBytes() = default;

  uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint8_t* const data_;
  const uint64_t bytes_;
};

/// Ordinary memory: all that a CPU needs.
class HeapBytes : public StagedBytes {
 public:
  /// Throws bad_alloc.
  explicit HeapBytes(uint64_t bytes)
      : HeapBytes(std::unique_ptr<uint8_t[]>(new uint8_t[bytes]), bytes) {}

 private:
  HeapBytes(std::unique_ptr<uint8_t[]> memory, uint64_t bytes)
      : StagedBytes(memory.get(), bytes), memory_(std::move(memory)) {}

  const std::unique_ptr<uint8_t[]> memory_;
};

}  // namespace cuda_runtime::core
