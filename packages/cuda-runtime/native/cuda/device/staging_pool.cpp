#include "cuda/device/staging_pool.h"

#include <cuda_runtime_api.h>

#include "cuda/device/reaper.h"
#include "cuda/driver.h"

namespace cuda_runtime::cuda {

using core::LockGuard;
using core::Status;

class StagingPool::Block : public core::StagedBytes {
 public:
  Block(StagingPool& pool, uint8_t* data, uint64_t bytes, uint32_t size)
      : StagedBytes(data, bytes), pool_(pool), size_(size) {}
  ~Block() override {
    if (data() != nullptr) pool_.give_back(data(), size_);
  }

 private:
  StagingPool& pool_;
  const uint32_t size_;
};

bool StagingPool::take_free(uint32_t size, uint8_t*& data) {
  std::vector<uint8_t*>& free = free_[size];
  free.reserve(free.size() + 1);  // for its return
  if (free.empty()) return false;
  data = free.back();
  free.pop_back();
  return true;
}

bool StagingPool::make_room(uint64_t bytes) {
  for (uint32_t size = kSizes; size-- > 0 && reserved_ + bytes > kLimit;) {
    while (!free_[size].empty() && reserved_ + bytes > kLimit) {
      reaper_.free_host(free_[size].back());
      free_[size].pop_back();
      reserved_ -= uint64_t{1} << size;
    }
  }
  return reserved_ + bytes <= kLimit || in_use_ == 0;
}

Status StagingPool::take(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged) {
  if (bytes == 0) {
    staged = std::make_unique<Block>(*this, nullptr, 0, 0);
    return {};
  }
  uint32_t size = kSmallest;
  while (size < kSizes - 1 && (uint64_t{1} << size) < bytes) ++size;
  const uint64_t rounded = uint64_t{1} << size;
  if (rounded < bytes) {
    return Status::error("CRT_OOM", core::kMemoryAllocation,
                         "no memory to stage " + std::to_string(bytes) + " bytes",
                         "Write in smaller pieces, or copy from a host buffer");
  }
  uint8_t* data = nullptr;
  {
    LockGuard lock(mutex_);
    if (!take_free(size, data)) {
      if (!make_room(rounded)) {
        return Status::error("CRT_QUEUE_FULL", 0,
                             "transfers under way hold the " + std::to_string(kLimit >> 20) +
                                 " MiB of staging memory, " + std::to_string(bytes) +
                                 " bytes more do not fit",
                             "Await `stream.ready()`, write in smaller pieces, or copy from a "
                             "host buffer");
      }
      reserved_ += rounded;
    }
    in_use_ += rounded;
  }
  if (data == nullptr) {
    const RelaxedCapture relaxed;
    const cudaError_t error =
        cudaHostAlloc(reinterpret_cast<void**>(&data), rounded, cudaHostAllocPortable);
    if (error != cudaSuccess) {
      LockGuard lock(mutex_);
      reserved_ -= rounded;
      in_use_ -= rounded;
      return to_status(error, "pinning " + std::to_string(rounded) + " bytes to stage a transfer");
    }
  }
  try {
    staged = std::make_unique<Block>(*this, data, bytes, size);
  } catch (...) {
    give_back(data, size);
    throw;
  }
  return {};
}

void StagingPool::give_back(uint8_t* data, uint32_t size) noexcept {
  LockGuard lock(mutex_);
  in_use_ -= uint64_t{1} << size;
  try {
    free_[size].push_back(data);
  } catch (const std::bad_alloc&) {
    reserved_ -= uint64_t{1} << size;
    reaper_.free_host(data);
  }
}

}  // namespace cuda_runtime::cuda
