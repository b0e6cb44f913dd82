#include "cpu/kernel_call.h"

#include <atomic>
#include <cstring>
#include <string>

#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {
namespace {

constexpr int kIllegalAddress = 700;  // cudaErrorIllegalAddress

KernelCall& call_of(const CpuContext* context) { return *static_cast<KernelCall*>(context->state); }

void parallel_for(const CpuContext* context, int64_t count, int64_t grain, CpuLoopBody body,
                  void* argument) {
  call_of(context).scheduler->pool().run(count, grain, body, argument);
}

void trigger(const CpuContext* context) {
  const KernelCall& call = call_of(context);
  call.scheduler->trigger(call);
}

void grid_dependency_sync(const CpuContext* context) {
  KernelCall& call = call_of(context);
  call.synced = true;
  call.scheduler->grid_dependency_sync(call);
}

/// Whether the launch was given a condition with this handle.
bool names_condition(const core::Work& work, uint64_t handle) {
  for (const core::ConditionArgument& argument : work.conditions) {
    uint64_t given = 0;
    std::memcpy(&given, work.params.data() + argument.offset, sizeof given);
    if (given == handle) return true;
  }
  return false;
}

// A number in the field of a condition is no address: it loses the device, as a wild store does.
void set_conditional(const CpuContext* context, uint64_t handle, uint32_t value) {
  const KernelCall& call = call_of(context);
  if (!names_condition(*call.work, handle)) {
    call.scheduler->faults().loss().lose(
        kIllegalAddress, "kernel " + call.work->label() +
                                   " set a condition that its launch was not given");
    return;
  }
  reinterpret_cast<std::atomic<uint32_t>*>(handle)->store(value, std::memory_order_release);
}

using KernelFunction = void (*)(const void* params, const CpuContext* context);

}  // namespace

void call_kernel(const core::Work& work, KernelCall& call) {
  call.work = &work;
  CpuContext context{};
  context.abi = CRT_ABI_VERSION;
  context.level = call.scheduler->options().level;
  context.threads = call.scheduler->pool().threads();
  context.state = &call;
  context.parallel_for = parallel_for;
  context.trigger = trigger;
  context.grid_dependency_sync = grid_dependency_sync;
  context.set_conditional = set_conditional;
  reinterpret_cast<KernelFunction>(work.kernel->entry())(work.params.data(), &context);
}

}  // namespace cuda_runtime::cpu
