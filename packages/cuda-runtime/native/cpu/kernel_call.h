// A kernel that runs: the context that it gets and what stands behind it.
#pragma once

#include "core/work.h"
#include "cuda_runtime/abi.h"

namespace cuda_runtime::cpu {

class Operation;
class GraphPlan;
class Scheduler;

struct KernelCall {
  Scheduler* scheduler = nullptr;
  Operation* operation = nullptr;  // the operation, or the launch of the plan
  GraphPlan* plan = nullptr;       // null: an eager launch
  uint32_t node = 0;
  bool synced = false;  // has called grid_dependency_sync
  int64_t late_ns = 0;  // a delay that a test injected, on the virtual clock
  const core::Work* work = nullptr;  // while the kernel runs
};

/// Runs a kernel's function over its whole grid on this thread and the pool.
void call_kernel(const core::Work& work, KernelCall& call);

}  // namespace cuda_runtime::cpu
