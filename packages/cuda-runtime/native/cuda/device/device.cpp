#include "cuda/device/device.h"

#include <map>

#include "core/base/failure.h"
#include "cuda/device/process_end.h"
#include "cuda/driver.h"
#include "cuda/queue/queue.h"

namespace cuda_runtime::cuda {

using core::LockGuard;
using core::Status;

namespace {

struct Registry {
  core::Mutex mutex;
  std::map<int, Device*> devices;
};

Registry& registry() {
  static Registry* const instance = new Registry();
  return *instance;
}

thread_local int current_device = -1;

}  // namespace

Device::Device(int ordinal, const core::PoolOptions& pool)
    : ordinal_(ordinal), pool_options_(pool), reaper_(ordinal, loss_), staging_(reaper_), waiter_(*this) {}

// Of one that could not be opened.
Device::~Device() {
  if (memory_stream_ != nullptr) cudaStreamDestroy(memory_stream_);
  if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
}

Status Device::open(int ordinal, const core::PoolOptions& pool, Device*& device) {
  LockGuard lock(registry().mutex);
  const auto found = registry().devices.find(ordinal);
  if (found != registry().devices.end()) {
    device = found->second;
    if (device->is_lost()) return device->lost_status();
    return device->refuse_pool(pool);
  }
  int count = 0;
  Status status = to_status(cudaGetDeviceCount(&count), "counting devices");
  if (!status.ok()) return status;
  if (ordinal < 0 || ordinal >= count) {
    return Status::error("CRT_ARGUMENT", core::kInvalidDevice,
                         "`device` is " + std::to_string(ordinal) + ", expected 0 … " +
                             std::to_string(count - 1) + " on the cuda backend",
                         "Choose a device that the driver shows");
  }
  std::unique_ptr<Device> opened(new Device(ordinal, pool));
  status = opened->start();
  if (!status.ok()) return status;
  park_threads_at_exit();
  device = registry().devices[ordinal] = opened.get();
  opened.release();  // until the process ends
  return {};
}

Status Device::start() {
  current_device = -1;
  cudaError_t error = cudaSetDevice(ordinal_);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties_, ordinal_);
  int least = 0;
  if (error == cudaSuccess) {
    error = cudaDeviceGetStreamPriorityRange(&least, &greatest_priority_);
  }
  if (error == cudaSuccess) {
    error = cudaStreamCreateWithFlags(&memory_stream_, cudaStreamNonBlocking);
  }
  cudaMemPoolProps pool{};
  pool.allocType = cudaMemAllocationTypePinned;
  pool.location.type = cudaMemLocationTypeDevice;
  pool.location.id = ordinal_;
  if (error == cudaSuccess) error = cudaMemPoolCreate(&pool_, &pool);
  // A threshold of 0 would give memory back at each synchronisation (rapidsai/rmm#2510).
  uint64_t keep = pool_options_.release_threshold;
  if (error == cudaSuccess) {
    error = cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep);
  }
  if (error == cudaSuccess) current_device = ordinal_;
  if (error == cudaSuccess) return reserve_pool();
  return to_status(error, "opening device " + std::to_string(ordinal_));
}

// Freed at once: below the threshold the pool keeps it.
Status Device::reserve_pool() {
  const uint64_t bytes = pool_options_.initial_bytes;
  uint8_t* data = nullptr;
  Status status = allocate(bytes, "pool.initialBytes", data);
  free(data, bytes);
  peak_.store(0);
  if (!status.ok() && status.fault().code == "CRT_OOM") {
    const core::MemoryState state = memory_state();
    status.fault().memory = std::make_shared<core::MemoryFacts>(
        core::MemoryFacts{bytes, state.free, state.reserved, {}});
  }
  if (!status.ok() || bytes == 0) return status;
  return to_status(cudaStreamSynchronize(memory_stream_), "filling the memory pool");
}

// The pool lives as long as the process.
Status Device::refuse_pool(const core::PoolOptions& asked) const {
  const bool is_same = asked.release_threshold == pool_options_.release_threshold &&
                       asked.initial_bytes == pool_options_.initial_bytes;
  if (!asked.is_given || is_same) return {};
  core::JsonWriter has;
  core::JsonWriter wants;
  for (core::JsonWriter* json : {&has, &wants}) json->begin_object();
  pool_options_.write(has);
  asked.write(wants);
  for (core::JsonWriter* json : {&has, &wants}) json->end_object();
  return Status::argument("device " + std::to_string(ordinal_) + " of this process is open with " +
                              has.take() + ", asked for " + wants.take(),
                          "Leave `pool` out or use the same: a device has one pool, which lives "
                          "as long as the process");
}

core::MemoryState Device::memory_state() {
  make_current();
  size_t available = 0;
  size_t total = 0;
  cudaMemGetInfo(&available, &total);
  uint64_t reserved = 0;
  cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
  const uint64_t used = in_use_.load();
  return {available, reserved, available + (reserved > used ? reserved - used : 0)};
}

void Device::make_current() const {
  if (current_device == ordinal_) return;
  if (cudaSetDevice(ordinal_) == cudaSuccess) current_device = ordinal_;
}

// Nothing is freed before the work that used it is over, so that the memory stream is always
// drained: what it hands out may be used on every stream at once.
Status Device::allocate(uint64_t bytes, const std::string& label, uint8_t*& data) {
  data = nullptr;
  if (is_lost()) return lost_status();
  if (bytes == 0) return {};
  make_current();
  const RelaxedCapture relaxed;
  cudaError_t error = cudaMallocFromPoolAsync(reinterpret_cast<void**>(&data), bytes, pool_,
                                              memory_stream_);
  if (error == cudaSuccess) error = cudaStreamSynchronize(memory_stream_);
  if (error == cudaErrorMemoryAllocation) return out_of_memory(error, bytes, label);
  if (error != cudaSuccess) return fail(error, "allocating " + std::to_string(bytes) + " bytes");
  const uint64_t used = in_use_.fetch_add(bytes) + bytes;
  uint64_t peak = peak_.load();
  while (peak < used && !peak_.compare_exchange_weak(peak, used)) {
  }
  return {};
}

// Not counted as in use: it stays to the end of the process, as the pool does.
Status Device::unread_byte(void*& byte) {
  LockGuard lock(unread_mutex_);
  if (unread_byte_ == nullptr) {
    uint8_t* made = nullptr;
    Status status = allocate(1, "a byte for fills that are switched off", made);
    if (!status.ok()) return status;
    in_use_.fetch_sub(1);
    unread_byte_ = made;
  }
  byte = unread_byte_;
  return {};
}

Status Device::allocate_host(uint64_t bytes, const std::string& label, uint8_t*& data) {
  data = nullptr;
  if (is_lost()) return lost_status();
  if (bytes == 0) return {};
  make_current();
  const RelaxedCapture relaxed;
  const cudaError_t error =
      cudaHostAlloc(reinterpret_cast<void**>(&data), bytes, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) return out_of_memory(error, bytes, label);
  return error == cudaSuccess ? Status()
                              : fail(error, "pinning " + std::to_string(bytes) + " bytes");
}

Status Device::out_of_memory(cudaError_t error, uint64_t bytes, const std::string& label) {
  cudaGetLastError();
  size_t available = 0;
  size_t total = 0;
  cudaMemGetInfo(&available, &total);
  uint64_t reserved = 0;
  cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved);
  const std::string name = label.empty() ? "" : " for " + label;
  return Status::error("CRT_OOM", error,
                       std::to_string(bytes) + " bytes" + name + " do not fit: " +
                           std::to_string(available) + " of " + std::to_string(total) +
                           " bytes are free, the pool holds " + std::to_string(reserved) +
                           ", of which " + std::to_string(in_use_.load()) + " are in use",
                       "Dispose buffers or use a smaller batch");
}

void Device::free(uint8_t* data, uint64_t bytes) noexcept {
  if (data == nullptr) return;
  in_use_.fetch_sub(bytes);
  if (is_lost()) return;
  make_current();
  const cudaError_t error = cudaFreeAsync(data, memory_stream_);
  if (is_device_lost(error)) lose(error, "freeing memory");
}

Status Device::read_back(void* to, const void* from, size_t bytes) {
  make_current();
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, memory_stream_);
  if (error == cudaSuccess) error = cudaStreamSynchronize(memory_stream_);
  return error == cudaSuccess ? Status() : fail(error, "reading from the device");
}

// ---- loss ---------------------------------------------------------------------------------------

void Device::lose(cudaError_t error, const std::string& what) noexcept {
  cudaGetLastError();
  std::string detail;
  try {
    detail = "the device is lost, seen while " + what + ": " +
             std::string(cudaGetErrorString(error)) + " [" + error_text(error) + "]";
  } catch (const std::bad_alloc&) {
    // The number alone then.
  }
  loss_.lose(error, std::move(detail));
}

void Device::note_last_good(const std::string& kernel) noexcept {
  try {
    loss_.note("kernel " + kernel + " is the last that is known to have ended well");
  } catch (const std::bad_alloc&) {
    // Less to tell.
  }
}

void Device::require() const {
  if (is_lost()) throw core::StatusException(lost_status());
}

Status Device::fail(cudaError_t error, const std::string& what) {
  if (!is_device_lost(error)) return to_status(error, what);
  lose(error, what);
  return lost_status();
}

}  // namespace cuda_runtime::cuda
