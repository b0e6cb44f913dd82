// Ordinary launches of a kernel as launches of a graph of one node: the same work for the device, and on
// some machines half the time of the call (docs/cuda-backend.md, "Launches").
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <vector>

#include "core/base/mutex.h"
#include "core/work.h"

namespace cuda_runtime::cuda {

class Reaper;

/// The executables of one kernel, one for each stream that starts it often. An executable never runs
/// beside itself, which on one stream changes nothing.
class KernelGraphs {
 public:
  /// `count`: launches that were made so, of all kernels.
  KernelGraphs(Reaper& reaper, std::atomic<uint64_t>& count) : reaper_(reaper), count_(count) {}
  ~KernelGraphs();
  KernelGraphs(const KernelGraphs&) = delete;
  KernelGraphs& operator=(const KernelGraphs&) = delete;

  /// Starts the kernel; false when nothing was started, because the launch asks for what such a graph does
  /// not have, the stream has not started the kernel often enough, or the driver refused: an ordinary
  /// launch does it then, or says why not.
  bool launch(const core::Work& work, CUfunction function, cudaStream_t stream) noexcept;

 private:
  struct Slot {
    cudaStream_t stream = nullptr;
    uint64_t launches = 0;
    uint64_t last_used = 0;
    cudaGraph_t graph = nullptr;
    CUgraphNode node = nullptr;
    cudaGraphExec_t exec = nullptr;
    // What the node has.
    core::Dim3 grid;
    core::Dim3 block;
    uint32_t shared_bytes = 0;
    std::vector<uint8_t> params;
  };

  Slot* slot_of(cudaStream_t stream) noexcept;
  bool create(Slot& slot, const core::Work& work, CUfunction function);
  void release(Slot& slot) noexcept;

  // An executable takes 30 µs and about 110 KiB of device memory.
  static constexpr uint64_t kOrdinaryLaunches = 8;
  // Of the kernel, after which a stream that did not start it gives its place to another.
  static constexpr uint64_t kForgetAfter = 4096;

  Reaper& reaper_;
  std::atomic<uint64_t>& count_;
  core::Mutex mutex_;
  uint64_t launches_ = 0;
  std::array<Slot, 4> slots_;
};

}  // namespace cuda_runtime::cuda
