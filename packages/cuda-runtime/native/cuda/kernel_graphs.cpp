#include "cuda/kernel_graphs.h"

#include <cstring>

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
  for (Slot& slot : slots_) release(slot);
}

bool KernelGraphs::launch(const core::Work& work, CUfunction function,
                          cudaStream_t stream) noexcept {
  if (work.config.flags != 0 || !work.conditions.empty()) return false;
  const core::LockGuard lock(mutex_);
  Slot* const slot = slot_of(stream);
  if (slot == nullptr || ++slot->launches <= kOrdinaryLaunches) return false;
  const DriverCalls& driver = driver_calls();
  try {
    const bool is_new = slot->exec == nullptr;
    if (is_new && !create(*slot, work, function)) return false;
    const auto& [grid, block, shared_bytes, flags, cluster, priority] = work.config;
    const bool is_current = slot->params.size() == work.params.bytes() &&
                            std::memcmp(slot->params.data(), work.params.data(),
                                        slot->params.size()) == 0 &&
                            is_same(slot->grid, grid) && is_same(slot->block, block) &&
                            slot->shared_bytes == shared_bytes;
    if (!is_current) {
      void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
      const CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(work, function, arguments);
      slot->params.clear();  // unknown until the driver has agreed
      if (!is_new && driver.set_kernel(slot->exec, slot->node, &params) != CUDA_SUCCESS) {
        return false;
      }
      slot->params.assign(work.params.data(), work.params.data() + work.params.bytes());
      slot->grid = grid;
      slot->block = block;
      slot->shared_bytes = shared_bytes;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (driver.launch_graph(slot->exec, stream) != CUDA_SUCCESS) return false;
  count_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// The stream's place, a free one, or that of a stream which has not started the kernel for long.
KernelGraphs::Slot* KernelGraphs::slot_of(cudaStream_t stream) noexcept {
  ++launches_;
  Slot* place = nullptr;
  for (Slot& slot : slots_) {
    if (slot.stream == stream) {
      slot.last_used = launches_;
      return &slot;
    }
    if (place == nullptr || slot.last_used < place->last_used) place = &slot;
  }
  if (place->stream != nullptr && launches_ - place->last_used < kForgetAfter) return nullptr;
  release(*place);
  place->stream = stream;
  place->last_used = launches_;
  return place;
}

// A stream whose executable cannot be had is asked again only after as many ordinary launches.
bool KernelGraphs::create(Slot& slot, const core::Work& work, CUfunction function) {
  const RelaxedCapture relaxed;
  void* arguments[] = {const_cast<uint8_t*>(work.params.data())};
  const CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(work, function, arguments);
  const bool is_there =
      cudaGraphCreate(&slot.graph, 0) == cudaSuccess &&
      driver_calls().add_kernel(&slot.node, slot.graph, nullptr, 0, &params) == CUDA_SUCCESS &&
      cudaGraphInstantiate(&slot.exec, slot.graph, 0) == cudaSuccess;
  if (is_there) return true;
  cudaGetLastError();
  const cudaStream_t stream = slot.stream;
  release(slot);
  slot.stream = stream;
  slot.last_used = launches_;
  return false;
}

void KernelGraphs::release(Slot& slot) noexcept {
  if (slot.exec != nullptr) reaper_.destroy_exec(slot.exec);
  if (slot.graph != nullptr) reaper_.destroy_graph(slot.graph);
  slot = {};
}

}  // namespace cuda_runtime::cuda
