// Pinned memory through which JavaScript's bytes travel. Blocks of powers of two are kept for
// reuse, since pinning a page costs more than copying it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/memory/staging.h"

namespace cuda_runtime::cuda {

class Reaper;

class StagingPool {
 public:
  explicit StagingPool(Reaper& reaper) : reaper_(reaper) {}

  /// `CRT_QUEUE_FULL` when transfers under way hold all that may be pinned.
  core::Status take(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged);

  uint64_t reserved() const {
    core::LockGuard lock(mutex_);
    return reserved_;
  }

  /// Most pinned memory; one larger transfer may exceed it when no other is under way.
  static constexpr uint64_t kLimit = uint64_t{256} << 20;

 private:
  class Block;
  static constexpr uint32_t kSmallest = 12;  // 4 KiB
  static constexpr uint32_t kSizes = 36;

  bool take_free(uint32_t size, uint8_t*& data);
  void give_back(uint8_t* data, uint32_t size) noexcept;
  /// Returns kept blocks to the driver until `bytes` more may be pinned; false when they may not.
  bool make_room(uint64_t bytes);

  Reaper& reaper_;
  mutable core::Mutex mutex_;
  std::vector<uint8_t*> free_[kSizes];
  uint64_t reserved_ = 0;
  uint64_t in_use_ = 0;
};

}  // namespace cuda_runtime::cuda
