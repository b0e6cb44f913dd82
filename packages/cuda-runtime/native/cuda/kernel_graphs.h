// Ordinary launches of a kernel as launches of a graph of one node: the same work for the device,
// and on some machines half the time of the call (docs/cuda-backend.md, "Launches").
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <vector>

#include "core/base/mutex.h"
#include "core/stream/recent_places.h"
#include "core/work.h"

namespace cuda_runtime::cuda {

class Reaper;

/// The executables of one kernel, for the streams that start it often now. An executable never runs
/// beside itself, which on one stream changes nothing. A launch may wait in the driver, when too
/// much is pending on its stream: nothing else waits for it here.
class KernelGraphs {
 public:
  /// `count`: launches that were made so, of all kernels.
  KernelGraphs(Reaper& reaper, std::atomic<uint64_t>& count) : reaper_(reaper), count_(count) {}
  ~KernelGraphs();
  KernelGraphs(const KernelGraphs&) = delete;
  KernelGraphs& operator=(const KernelGraphs&) = delete;

  /// Starts the kernel; false when nothing was started, because the launch asks for what such a
  /// graph does not have, the stream has not started the kernel often enough, or the driver
  /// refused: an ordinary launch does it then, or says why not.
  bool launch(const core::Work& work, CUfunction function, cudaStream_t stream) noexcept;

 private:
  /// What one stream's launches need.
  struct Prepared {
    uint64_t launches = 0;
    cudaGraph_t graph = nullptr;
    CUgraphNode node = nullptr;
    cudaGraphExec_t exec = nullptr;
    // What the node has.
    core::Dim3 grid;
    core::Dim3 block;
    uint32_t shared_bytes = 0;
    std::vector<uint8_t> params;
  };
  struct Slot {
    core::Mutex mutex;  // held while its stream launches; others only try it
    Prepared prepared;
  };

  Slot* lock_slot(cudaStream_t stream) noexcept;
  static bool has(const Prepared& prepared, const core::Work& work);
  bool create(Prepared& prepared, const core::Work& work, CUfunction function);
  bool set(Prepared& prepared, const core::Work& work, CUfunction function, bool is_new);
  void release(Prepared& prepared) noexcept;

  // An executable takes 30 µs and about 110 KiB of device memory.
  static constexpr uint64_t kOrdinaryLaunches = 8;

  Reaper& reaper_;
  std::atomic<uint64_t>& count_;
  core::Mutex mutex_;  // of `places_`; nothing is asked of the driver with it
  core::RecentPlaces places_;
  std::array<Slot, core::RecentPlaces::kPlaces> slots_;
};

}  // namespace cuda_runtime::cuda
