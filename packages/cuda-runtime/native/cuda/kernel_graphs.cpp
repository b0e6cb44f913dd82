#include "cuda/kernel_graphs.h"

#include <cstring>
#include <optional>

#include "cuda/device/reaper.h"
#include "cuda/driver.h"
#include "cuda/driver_calls.h"

namespace cuda_runtime::cuda {
namespace {

CUDA_KERNEL_NODE_PARAMS_v2 node_params(const core::Work& work, CUfunction function,
                                       void** arguments) {
  CUDA_KERNEL_NODE_PARAMS_v2 params{};
  params.func = function;
  params.gridDimX = work.config.grid.x;
  params.gridDimY = work.config.grid.y;
  params.gridDimZ = work.config.grid.z;
  params.blockDimX = work.config.block.x;
  params.blockDimY = work.config.block.y;
  params.blockDimZ = work.config.block.z;
  params.sharedMemBytes = work.config.shared_bytes;
  params.kernelParams = arguments;
  return params;
}

bool is_same(const core::Dim3& a, const core::Dim3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

}  // namespace

KernelGraphs::~KernelGraphs() {
  for (Slot& slot : slots_) release(slot.prepared);
}

bool KernelGraphs::launch(const core::Work& work, CUfunction function,
                          cudaStream_t stream) noexcept {
  if (work.config.flags != 0 || !work.conditions.empty()) return false;
  Slot* const slot = lock_slot(stream);
  if (slot == nullptr) return false;
  const core::LockGuard held(slot->mutex, std::adopt_lock);
  Prepared& prepared = slot->prepared;
  if (++prepared.launches <= kOrdinaryLaunches) return false;
  std::optional<RelaxedCapture> relaxed;
  try {
    const bool is_new = prepared.exec == nullptr;
    const bool is_current = !is_new && has(prepared, work);
    if (!is_current) relaxed.emplace();  // also for the first launch, which brings it to the device
    if (is_new && !create(prepared, work, function)) return false;
    if (!is_current && !set(prepared, work, function, is_new)) return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (driver_calls().launch_graph(prepared.exec, stream) != CUDA_SUCCESS) return false;
  count_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// The stream's slot, locked; null when it has none and gets none. A slot that is busy is not waited
// for: its stream may wait in the driver, and an ordinary launch does as well.
KernelGraphs::Slot* KernelGraphs::lock_slot(cudaStream_t stream) noexcept {
  const core::LockGuard lock(mutex_);
  const auto [place, is_own] = places_.ask(stream);
  if (place < 0) return nullptr;
  Slot& slot = slots_[static_cast<size_t>(place)];
  if (!slot.mutex.try_lock()) return nullptr;
  if (!is_own) {
    release(slot.prepared);
    places_.take(place, stream);
  }
  return &slot;
}

bool KernelGraphs::has(const Prepared& prepared, const core::Work& work) {
  return prepared.params.size() == work.params.bytes() &&
         std::memcmp(prepared.params.data(), work.params.data(), prepared.params.size()) == 0 &&
         is_same(prepared.grid, work.config.grid) && is_same(prepared.block, work.config.block) &&
         prepared.shared_bytes == work.config.shared_bytes;
}

// What the node of a new graph has was given at its making.
bool KernelGraphs::set(Prepared& prepared, const core::Work& work, CUfunction function,
                       bool is_new) {
  prepared.params.clear();  // unknown until the driver has agreed
  if (!is_new) {
    void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
    const CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(work, function, arguments);
    if (driver_calls().set_kernel(prepared.exec, prepared.node, &params) != CUDA_SUCCESS) {
      return false;
    }
  }
  prepared.params.assign(work.params.data(), work.params.data() + work.params.bytes());
  prepared.grid = work.config.grid;
  prepared.block = work.config.block;
  prepared.shared_bytes = work.config.shared_bytes;
  return true;
}

// A stream whose executable cannot be had is asked again only after as many ordinary launches.
bool KernelGraphs::create(Prepared& prepared, const core::Work& work, CUfunction function) {
  void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
  const CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(work, function, arguments);
  const bool is_there =
      cudaGraphCreate(&prepared.graph, 0) == cudaSuccess &&
      driver_calls().add_kernel(&prepared.node, prepared.graph, nullptr, 0, &params) ==
          CUDA_SUCCESS &&
      cudaGraphInstantiate(&prepared.exec, prepared.graph, 0) == cudaSuccess;
  if (is_there) return true;
  cudaGetLastError();
  release(prepared);
  return false;
}

void KernelGraphs::release(Prepared& prepared) noexcept {
  if (prepared.exec != nullptr) reaper_.destroy_exec(prepared.exec);
  if (prepared.graph != nullptr) reaper_.destroy_graph(prepared.graph);
  prepared = {};
}

}  // namespace cuda_runtime::cuda
