// Releases what may wait for the device: pinned memory, libraries, executables. On a thread of its
// own, so that neither a garbage collection nor the event loop ever waits for a kernel.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "core/base/mutex.h"
#include "core/check/device_loss.h"

namespace cuda_runtime::cuda {

class Reaper {
 public:
  Reaper(int device, const core::DeviceLoss& loss) : device_(device), loss_(loss) {}

  // None fails: without memory for the entry the release happens at once.
  void free_host(void* data) noexcept { add(Kind::kHost, data); }
  void destroy_exec(cudaGraphExec_t exec) noexcept { add(Kind::kExec, exec); }
  void destroy_graph(cudaGraph_t graph) noexcept { add(Kind::kGraph, graph); }
  void unload(cudaLibrary_t library) noexcept { add(Kind::kLibrary, library); }
  void destroy_stream(cudaStream_t stream) noexcept { add(Kind::kStream, stream); }

  /// Entries that wait for their release.
  uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  enum class Kind { kHost, kExec, kGraph, kLibrary, kStream };
  struct Entry {
    Kind kind;
    void* object;
    Entry* next;
  };

  void add(Kind kind, void* object) noexcept;
  void run() noexcept;
  void release(const Entry& entry) const noexcept;

  const int device_;
  const core::DeviceLoss& loss_;
  core::Mutex mutex_;
  core::Condition arrived_;
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
  bool running_ = false;
  std::atomic<uint64_t> waiting_{0};
};

}  // namespace cuda_runtime::cuda
