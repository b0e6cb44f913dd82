// Device memory of the CPU backend: 64-byte aligned blocks, kept for reuse by size; from 8 MiB on
// they are whole huge pages of 2 MiB where the system grants them. With poison, new memory is 0xA5,
// freed memory 0xDD, and guard bytes around each block are checked at its end, or when asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/check/race_check.h"
#include "cpu/device/page_guard.h"

namespace cuda_runtime::cpu {

struct MemoryOptions {
  static constexpr uint64_t kDefaultKeep = 512u << 20;
  static constexpr uint64_t kDefaultLargest = 64u << 20;
  uint64_t limit_bytes = 0;  // 0: the machine's memory
  bool poison = false;
  bool protect = false;    // device memory is accessible to what runs with it only
  uint64_t keep_bytes = kDefaultKeep;  // freed memory that is kept
  uint64_t keep_largest = kDefaultLargest;  // larger blocks go back to the system at once
  bool reuse_any = false;  // the block that was freed last, if it is large enough
};

class MemoryPool {
 public:
  explicit MemoryPool(const MemoryOptions& options);
  ~MemoryPool();

  core::Status allocate(uint64_t bytes, const std::string& label, core::MemoryPlace place,
                        uint8_t*& data);
  /// Takes memory from the system, touches its pages and keeps it for an allocation of that size.
  core::Status reserve(uint64_t bytes);
  /// Damaged guard bytes are reported to `races`.
  void release(uint8_t* data, uint64_t bytes, const std::string& label,
               core::MemoryPlace place, core::RaceCheck* races);
  /// Reports the guard bytes of memory in use that are damaged, and makes them good.
  void check_guards(core::RaceCheck& races);
  PageGuard& pages() { return pages_; }

  uint64_t limit() const { return limit_; }
  uint64_t in_use();
  uint64_t peak();
  uint64_t cached();

 private:
  uint64_t block_bytes(uint64_t bytes) const;
  void drop_cache();
  bool keep(uint64_t size, uint8_t* block);
  uint8_t* take(uint64_t& size);
  bool poison(uint8_t* block, uint64_t bytes, const std::string& label);
  uint64_t alignment_of(uint64_t size) const;

  const uint64_t limit_;
  const MemoryOptions options_;
  PageGuard pages_;
  core::Mutex mutex_;
  struct FreeBlock {
    uint64_t size;
    uint8_t* block;
  };
  std::map<uint64_t, std::vector<uint8_t*>> free_;
  std::vector<FreeBlock> recent_;               // reuse_any: instead of `free_`, the last one last
  std::map<const uint8_t*, uint64_t> larger_;  // reuse_any: blocks in use, by their true size
  struct Guarded {
    uint64_t bytes;
    std::string label;
  };
  std::map<uint8_t*, Guarded> guarded_;  // poison: what is in use
  uint64_t in_use_ = 0;
  uint64_t peak_ = 0;
  uint64_t cached_ = 0;
};

}  // namespace cuda_runtime::cpu
