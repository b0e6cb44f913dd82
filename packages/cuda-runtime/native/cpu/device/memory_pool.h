// Device memory of the CPU backend: 64-byte aligned blocks, kept for reuse by size; from 8 MiB on
// they are whole huge pages of 2 MiB where the system grants them. With poison, new memory is 0xA5,
// freed memory 0xDD, and guard bytes around each block are checked at its end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/check/race_check.h"

namespace cuda_runtime::cpu {

class MemoryPool {
 public:
  /// limit_bytes 0 = the machine's memory.
  MemoryPool(uint64_t limit_bytes, bool poison);
  ~MemoryPool();

  core::Status allocate(uint64_t bytes, const std::string& label, uint8_t*& data);
  /// Damaged guard bytes are reported to `races`.
  void release(uint8_t* data, uint64_t bytes, const std::string& label, core::RaceCheck* races);

  uint64_t limit() const { return limit_; }
  uint64_t in_use();
  uint64_t peak();
  uint64_t cached();

 private:
  uint64_t block_bytes(uint64_t bytes) const;
  void drop_cache();
  bool keep(uint64_t size, uint8_t* block);

  const uint64_t limit_;
  const bool poison_;
  core::Mutex mutex_;
  std::map<uint64_t, std::vector<uint8_t*>> free_;
  uint64_t in_use_ = 0;
  uint64_t peak_ = 0;
  uint64_t cached_ = 0;
};

}  // namespace cuda_runtime::cpu
