// One GPU of the process: its memory, its threads, and whether it still answers. Made at the first
// open and never destroyed: at process exit no CUDA call is made (L17).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/base/json.h"
#include "core/backend.h"
#include "core/base/status.h"
#include "core/check/device_loss.h"
#include "core/memory/staging.h"
#include "core/runtime.h"
#include "cuda/device/event_pool.h"
#include "cuda/device/reaper.h"
#include "cuda/device/staging_pool.h"
#include "cuda/queue/waiter.h"

namespace cuda_runtime::cuda {

class Device {
 public:
  /// The device with this ordinal; makes the context and the memory pool at the first call; a later
  /// one must not ask for another pool.
  static core::Status open(int ordinal, const core::PoolOptions& pool, Device*& device);

  ~Device();

  int ordinal() const { return ordinal_; }
  const cudaDeviceProp& properties() const { return properties_; }
  int greatest_priority() const { return greatest_priority_; }
  const core::PoolOptions& pool_options() const { return pool_options_; }
  EventPool& events() { return events_; }
  StagingPool& staging() { return staging_; }
  Reaper& reaper() { return reaper_; }
  Waiter& waiter() { return waiter_; }
  /// Launches of kernels that were made as launches of a graph.
  std::atomic<uint64_t>& launches_by_graph() { return launches_by_graph_; }

  /// Makes this the calling thread's device; cheap when it is already.
  void make_current() const;

  core::Status allocate(uint64_t bytes, const std::string& label, uint8_t*& data);
  core::Status allocate_host(uint64_t bytes, const std::string& label, uint8_t*& data);
  void free(uint8_t* data, uint64_t bytes) noexcept;

  /// A byte of device memory that may be written at any time and that nobody reads.
  core::Status unread_byte(void*& byte);

  core::MemoryState memory_state();
  /// Copies from the device and waits; for load-time checks only.
  core::Status read_back(void* to, const void* from, size_t bytes);

  core::DeviceLoss& loss() { return loss_; }
  bool is_lost() const { return loss_.is_lost(); }
  /// Notes the first error after which the device is not to be trusted.
  void lose(cudaError_t error, const std::string& what) noexcept;
  /// The last kernel of some stream that is known to have ended before the loss.
  void note_last_good(const std::string& kernel) noexcept;
  /// What every later call answers.
  core::Status lost_status() const { return loss_.status(); }
  /// The same as an exception; returns when the device is fine.
  void require() const;
  /// A failed call: notes the loss when it is one.
  core::Status fail(cudaError_t error, const std::string& what);

  void write_statistics(core::JsonWriter& json) const;
  void write_info(core::JsonWriter& json) const;

 private:
  Device(int ordinal, const core::PoolOptions& pool);
  core::Status start();
  core::Status reserve_pool();
  core::Status refuse_pool(const core::PoolOptions& asked) const;
  core::Status out_of_memory(cudaError_t error, uint64_t bytes, const std::string& label);

  const int ordinal_;
  const core::PoolOptions pool_options_;
  cudaDeviceProp properties_{};
  int greatest_priority_ = 0;
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t memory_stream_ = nullptr;
  core::Mutex unread_mutex_;
  uint8_t* unread_byte_ = nullptr;  // made when first asked for
  core::DeviceLoss loss_{
      "Restart the process; every later call on the device fails the same way"};
  EventPool events_;
  Reaper reaper_;
  StagingPool staging_;
  Waiter waiter_;
  std::atomic<uint64_t> in_use_{0};
  std::atomic<uint64_t> peak_{0};
  std::atomic<uint64_t> launches_by_graph_{0};
};

}  // namespace cuda_runtime::cuda
