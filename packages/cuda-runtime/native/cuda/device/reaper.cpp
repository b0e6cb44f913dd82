#include "cuda/device/reaper.h"

#include <new>

#include "core/base/failure.h"
#include "cuda/device/process_end.h"
#include "cuda/driver.h"

namespace cuda_runtime::cuda {

using core::LockGuard;

void Reaper::add(Kind kind, void* object) noexcept {
  if (object == nullptr) return;
  auto* entry = new (std::nothrow) Entry{kind, object, nullptr};
  if (entry == nullptr) return release({kind, object, nullptr});
  waiting_.fetch_add(1, std::memory_order_relaxed);
  LockGuard lock(mutex_);
  (last_ != nullptr ? last_->next : first_) = entry;
  last_ = entry;
  if (!running_) running_ = core::try_start_thread([this] { run(); });
  arrived_.notify_one();
}

void Reaper::run() noexcept {
  cudaSetDevice(device_);
  relax_thread();
  for (;;) {
    Entry* entry = nullptr;
    {
      LockGuard lock(mutex_);
      while (first_ == nullptr) arrived_.wait(mutex_);
      entry = first_;
      first_ = entry->next;
      if (first_ == nullptr) last_ = nullptr;
    }
    {
      const DriverUse use;
      release(*entry);
    }
    delete entry;
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
}

// The results do not matter: a process that ends releases everything. A lost device is not asked at
// all, since each call would only fail.
void Reaper::release(const Entry& entry) const noexcept {
  if (loss_.is_lost()) return;
  switch (entry.kind) {
    case Kind::kHost:
      cudaFreeHost(entry.object);
      break;
    case Kind::kExec:
      cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(entry.object));
      break;
    case Kind::kGraph:
      cudaGraphDestroy(static_cast<cudaGraph_t>(entry.object));
      break;
    case Kind::kLibrary:
      cudaLibraryUnload(static_cast<cudaLibrary_t>(entry.object));
      break;
    case Kind::kStream:
      cudaStreamDestroy(static_cast<cudaStream_t>(entry.object));
      break;
  }
  cudaGetLastError();
}

}  // namespace cuda_runtime::cuda
