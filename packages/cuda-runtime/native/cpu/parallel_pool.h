// The threads behind parallel_for, shared by all streams. A range is cut by (count, grain, threads)
// alone; which thread runs a piece is left to timing.
#pragma once

#include <cstdint>

#include "cuda_runtime/abi.h"

#include <memory>

namespace cuda_runtime::cpu {

class ParallelPool {
 public:
  /// `threads` counts the caller of a loop, so that the pool makes one less; fewer when the system
  /// refuses, which changes no result.
  explicit ParallelPool(uint32_t threads);
  /// No loop may be running.
  ~ParallelPool();

  /// Runs body over [0, count); safe from several threads at once; nested calls run inline.
  void run(int64_t count, int64_t grain, CpuLoopBody body, void* argument);
  /// As asked for; cuts ranges.
  uint32_t threads() const { return threads_; }
  /// As many as there are, with the caller.
  uint32_t started() const { return started_; }
  /// Pieces of loops that have ended.
  uint64_t progress() const;

  /// Items in each piece but the last.
  static int64_t piece_size(int64_t count, int64_t grain, uint32_t threads);

 private:
  struct Loop;
  struct State;
  static void thread_main(std::shared_ptr<State> state);

  const uint32_t threads_;
  uint32_t started_ = 1;
  std::shared_ptr<State> state_;
};

}  // namespace cuda_runtime::cpu
