// Orders operations on the CPU. One mutex guards the dependency counts of eager operations;
// kernels, copies and callbacks run outside it; nodes of a running graph count down with atomics
// alone.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "core/check/check_options.h"
#include "core/runtime.h"
#include "cpu/check/fault_injection.h"
#include "cpu/check/watchdog.h"
#include "cpu/device/page_guard.h"
#include "cpu/executor.h"
#include "cpu/kernel_call.h"
#include "cpu/operation.h"
#include "cpu/parallel_pool.h"
#include "cpu/plan.h"

namespace cuda_runtime::cpu {

enum class PdlPolicy : uint8_t { kEarliest, kLatest, kRandom };

struct SchedulerOptions {
  Schedule schedule = Schedule::kParallel;
  uint64_t seed = 0;
  uint32_t threads = 1;
  uint32_t max_threads = 32;
  PdlPolicy pdl = PdlPolicy::kEarliest;
  bool strict_pdl = false;
  bool poison = false;
  CpuLevel level = kCpuBaseline;
  core::CheckOptions checks;
};

/// An operation that another one waits for.
struct Dependency {
  Operation* operation = nullptr;
  bool programmatic = false;
};

class Scheduler : public Watched {
 public:
  Scheduler(const SchedulerOptions& options, core::Trace& trace, PageGuard& pages);
  ~Scheduler() override;

  /// Makes the first thread; to be called once, before anything is submitted.
  core::Status start();
  /// Makes the one thread that runs host functions, if it is not there.
  core::Status start_callbacks();
  /// Starts the operation when its dependencies allow; takes over no reference. Throws bad_alloc
  /// before it changes anything; whatever follows a submission needs no memory.
  void submit(Operation& operation, const Dependency* dependencies, size_t count);
  /// Posts when the ticket completes; now, if it has.
  void notify(Operation& operation, Notice notice);
  /// False when the time is over. Throws a StatusException when the watchdog found a deadlock.
  bool wait_blocking(const Operation& operation, int64_t timeout_ms);
  core::Status take_fault();

  bool is_virtual() const { return options_.checks.virtual_clock; }
  /// The host has seen the end of an operation: what it submits from now on comes after it.
  void host_saw(const core::Ticket& ticket);
  FaultInjection& faults() { return faults_; }
  /// Operations that are not complete, under the mutex.
  void visit_submitted(const std::function<void(const core::SubmittedWork&)>& visitor);
  /// For the watchdog.
  int64_t hang_ms() const override { return options_.checks.hang_ms; }
  void look(int64_t now_ns, HangReport& report) override;

  Executor& executor() { return executor_; }
  ParallelPool& pool() { return pool_; }
  const SchedulerOptions& options() const { return options_; }
  uint64_t kernels_without_wait() const { return kernels_without_wait_.load(); }
  /// The latest of them; empty before there is one.
  std::string kernel_without_wait();

  // For kernels that run: programmatic launch.
  void trigger(const KernelCall& call);
  void grid_dependency_sync(const KernelCall& call);
  void kernel_ended(const KernelCall& call, const core::Work& work);

 private:
  /// What a state change made runnable or left over; dealt with after the mutex is released.
  struct Outcome {
    LinkedList<Task> tasks;
    LinkedList<Operation> completed;
    Operation* drained = nullptr;  // the last of `completed` whose successors were released
  };

  Task run(Task task);
  Task run_operation(Operation& operation);
  Task start_graph(Operation& operation);
  Task run_node(GraphPlan& plan, uint32_t node);
  Task finish_node(GraphPlan& plan, uint32_t node);
  Task run_conditional(GraphPlan& plan, uint32_t node);
  Task finish_plan(GraphPlan& plan);
  void release_started(GraphPlan& plan, uint32_t node);
  Task hand_out_roots(GraphPlan& plan, LinkedList<Task>& tasks);
  void run_work(const core::Work& work, KernelCall& call);
  void trace_work(const core::Work& work, KernelCall& call);
  void trace_launch(const Operation& operation);

  void give_back(Operation& operation);
  void release_start(Operation& operation, Outcome& outcome);
  void complete(Operation& operation, Outcome& outcome);
  void complete_one(Operation& operation, Outcome& outcome);
  void drain(Outcome& outcome);
  Task finish_graph(Operation& launch);
  void finish_operation(Operation& operation, Outcome& outcome);
  Task settle(Outcome& outcome, bool on_executor);
  Task& node_task(GraphPlan& plan, uint32_t node) const;
  Task hand_out(LinkedList<Task>& tasks, bool on_executor);
  void wake_waiters();
  bool wait_for_progress(int64_t deadline_ns);
  void list(Operation& operation);
  void unlist(Operation& operation);
  std::string picture(int64_t quiet_ms);
  void sleep_late(int64_t late_ns);
  bool starts_early();
  void stage_read(const core::Work& work, Operation& operation);
  void post(const Notice& notice, const Operation& operation);
  std::string fault_text(const Notice& notice, const Operation& operation);

  const SchedulerOptions options_;
  core::Trace& trace_;
  PageGuard& pages_;
  core::Mutex mutex_;
  core::Condition progress_;
  std::atomic<uint32_t> waiters_{0};
  uint64_t submitted_ = 0;
  Operation* first_live_ = nullptr;
  Operation* last_live_ = nullptr;
  uint64_t completed_ = 0;
  // What the watchdog saw last, and how often it gave the waits up.
  uint64_t seen_progress_ = 0;
  int64_t quiet_since_ns_ = 0;
  bool has_reported_ = false;
  uint64_t hangs_ = 0;
  std::string hang_text_;
  std::atomic<int64_t> host_ns_{0};           // virtual clock
  std::atomic<int64_t> callbacks_end_ns_{0};  // the same, of host functions
  FaultInjection faults_;
  std::atomic<bool> has_fault_{false};
  std::array<char, 128> faulty_{};  // the latest kernel that ended without waiting; needs no memory
  std::atomic<uint64_t> kernels_without_wait_{0};
  std::atomic<uint64_t> coin_;
  ParallelPool pool_;
  Executor executor_;
  std::unique_ptr<Executor> callbacks_;  // one thread; null before the first host function
  std::atomic<bool> has_callbacks_{false};
};

}  // namespace cuda_runtime::cpu
