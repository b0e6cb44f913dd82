#include "cpu/scheduler.h"

#include <algorithm>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "core/graph/nodes/condition.h"
#include "cpu/check/virtual_clock.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;
using core::Work;
using core::WorkKind;

constexpr int64_t kLongestWaitMs = 1'000'000'000'000;  // 30 years; more would not fit nanoseconds
constexpr int64_t kRecheckNs = 20'000'000;  // a waiting thread looks this often, if it is not woken
constexpr int64_t kWaitSpinNs = 20'000;  // a kernel looks this long for its predecessors' writes

// Whether this thread runs host functions: it must not go on with other work.
thread_local bool is_callback_thread = false;

core::Status deadlock(const std::string& picture) {
  return core::Status::error("CRT_DEADLOCK", core::kNotReady, picture, kHangHint);
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, core::Trace& trace, PageGuard& pages)
    : options_(options),
      trace_(trace),
      pages_(pages),
      coin_(options.seed),
      pool_(options.threads),
      executor_(options.schedule, options.seed, options.max_threads,
                [this](Task task) { return run(task); }) {}

Scheduler::~Scheduler() { Watchdog::instance().remove(*this); }

core::Status Scheduler::start() {
  if (executor_.start()) {
    if (options_.checks.hang_ms > 0) Watchdog::instance().add(*this);
    return {};
  }
  return core::Status::error("CRT_OOM", core::kMemoryAllocation,
                             "the system gives no thread to run operations on",
                             "Raise the limit of threads (ulimit -u, pids.max), or end some");
}

core::Status Scheduler::start_callbacks() {
  if (has_callbacks_.load(std::memory_order_acquire)) return {};
  LockGuard lock(mutex_);
  if (has_callbacks_.load()) return {};
  auto callbacks = std::make_unique<Executor>(Schedule::kSerial, 0, 1, [this](Task task) {
    is_callback_thread = true;
    return run(task);
  });
  if (!callbacks->start()) {
    return core::Status::error("CRT_OOM", core::kMemoryAllocation,
                               "the system gives no thread to run host functions on",
                               "Raise the limit of threads (ulimit -u, pids.max), or end some");
  }
  callbacks_ = std::move(callbacks);
  has_callbacks_.store(true, std::memory_order_release);
  return {};
}

// ---- submission -------------------------------------------------------------------------------

void Scheduler::submit(Operation& operation, const Dependency* dependencies, size_t count) {
  operation.links.reserve(count);
  // Nothing below can fail.
  static_cast<CpuQueue&>(operation.stream->queue()).pending.fetch_add(1);
  operation.retain();  // released when it is complete
  if (operation.launch) {
    for (const auto& [node, record] : operation.launch->records) record->retain();
  }
  Outcome outcome;
  {
    LockGuard lock(mutex_);
    operation.number = ++submitted_;
    list(operation);
    raise(operation.ready_ns, host_ns_.load());
    for (size_t i = 0; i < count; ++i) {
      Operation& before = *dependencies[i].operation;
      if (before.is_complete()) {
        if (is_virtual()) raise(operation.ready_ns, before.completed_ns());
        continue;
      }
      const bool programmatic = dependencies[i].programmatic;
      operation.links.push_back({&operation, nullptr, 0, programmatic});
      before.successors.append(operation.links.back());
      if (!programmatic || !before.triggered) ++operation.start_pending;
      if (programmatic) operation.finish_pending.fetch_add(1);
    }
    release_start(operation, outcome);
    drain(outcome);
  }
  settle(outcome, false);
}

void Scheduler::notify(Operation& operation, Notice notice) {
  {
    LockGuard lock(mutex_);
    if (!operation.is_complete()) {
      operation.notices.push_back(std::move(notice));
      notice.sink = nullptr;
    }
  }
  if (notice.sink) post(notice, operation);
  executor_.demand();
}

bool Scheduler::wait_blocking(const Operation& operation, int64_t timeout_ms) {
  executor_.demand();
  if (operation.is_complete()) return true;
  const int64_t wait_ms = timeout_ms < 0 ? kLongestWaitMs : std::min(timeout_ms, kLongestWaitMs);
  const int64_t deadline = core::now_ns() + wait_ms * 1'000'000;
  core::Status hang;
  {
    LockGuard lock(mutex_);
    const uint64_t hangs = hangs_;
    waiters_.fetch_add(1);
    while (!operation.is_complete() && hangs_ == hangs && wait_for_progress(deadline)) {
    }
    waiters_.fetch_sub(1);
    if (!operation.is_complete() && hangs_ != hangs) hang = deadlock(hang_text_);
  }
  if (!hang.ok()) throw core::StatusException(std::move(hang));
  return operation.is_complete();
}

// The caller holds the mutex; false when the deadline has passed. Looks now and then, so that a
// lost wake-up costs time only.
bool Scheduler::wait_for_progress(int64_t deadline_ns) {
  const int64_t now = core::now_ns();
  if (now >= deadline_ns) return false;
  progress_.wait_until(mutex_, std::min(deadline_ns, now + kRecheckNs));
  return true;
}

void Scheduler::host_saw(const core::Ticket& ticket) {
  if (is_virtual()) raise(host_ns_, ticket.completed_ns());
}

core::Status Scheduler::take_fault() {
  if (faults_.loss().is_lost()) return faults_.loss().status();
  if (!has_fault_.load(std::memory_order_acquire)) return {};
  std::array<char, 128> kernel{};
  {
    LockGuard lock(mutex_);
    if (!has_fault_.exchange(false)) return {};
    kernel = faulty_;
  }
  return core::Status::error(
      "CRT_PDL_NO_WAIT", 0,
      std::string("kernel ") + kernel.data() +
          " was launched programmatically and ended without waiting for its predecessors",
      "Call grid_dependency_sync in it, or launch it without `programmatic`");
}

void Scheduler::post(const Notice& notice, const Operation& operation) {
  notice.sink->post(notice.token, fault_text(notice, operation));
}

std::string Scheduler::fault_text(const Notice& notice, const Operation& operation) {
  if (operation.out_of_memory) return core::kOutOfMemoryText;
  try {
    if (faults_.loss().is_lost()) {
      return core::to_json(faults_.loss().status().fault(), notice.api);
    }
    if (*notice.api == '\0') return {};
    if (!operation.failure.ok()) return core::to_json(operation.failure.fault(), notice.api);
    const core::Status fault = take_fault();
    return fault.ok() ? std::string() : core::to_json(fault.fault(), notice.api);
  } catch (const std::bad_alloc&) {
    return core::kOutOfMemoryText;
  }
}

// ---- state changes of eager operations; the caller holds the mutex ------------------------------

void Scheduler::release_start(Operation& operation, Outcome& outcome) {
  if (--operation.start_pending != 0) return;
  if (operation.type == OperationType::kMark) {
    finish_operation(operation, outcome);
  } else {
    const bool is_callback = operation.work && operation.work->kind == WorkKind::kHost;
    operation.task = {&operation, nullptr,     0, operation.number, operation.stream_id,
                      is_callback, nullptr};
    outcome.tasks.append(operation.task);
  }
}

void Scheduler::finish_operation(Operation& operation, Outcome& outcome) {
  if (operation.finish_pending.fetch_sub(1) == 1) outcome.completed.append(operation);
}

void Scheduler::complete(Operation& operation, Outcome& outcome) {
  finish_operation(operation, outcome);
  drain(outcome);
}

// Completing an operation completes the marks behind it, and so on; a loop, since chains are long.
void Scheduler::drain(Outcome& outcome) {
  while (outcome.drained != outcome.completed.last()) {
    Operation* const next =
        outcome.drained == nullptr ? outcome.completed.first() : outcome.drained->next;
    outcome.drained = next;
    complete_one(*next, outcome);
  }
}

void Scheduler::complete_one(Operation& operation, Outcome& outcome) {
  if (operation.stream) {
    static_cast<CpuQueue&>(operation.stream->queue()).pending.fetch_sub(1);
  }
  int64_t end_ns = operation.timing && !is_virtual() ? core::now_ns() : 0;
  if (is_virtual()) end_ns = std::max(operation.ready_ns.load(), operation.end_ns.load());
  ++completed_;
  unlist(operation);
  operation.mark_complete(end_ns);
  const Successor* following = operation.successors.first();
  operation.successors = {};
  while (following != nullptr) {
    // Read first: a node that starts may end its launch, to which the link belongs.
    const Successor successor = *following;
    following = successor.next;
    if (is_virtual()) {
      raise(successor.operation != nullptr ? successor.operation->ready_ns
                                           : successor.plan->runs[successor.node].ready_ns,
            end_ns);
    }
    if (successor.operation == nullptr) {
      if (successor.plan->runs[successor.node].start.fetch_sub(1) == 1) {
        outcome.tasks.append(node_task(*successor.plan, successor.node));
      }
      continue;
    }
    if (!successor.programmatic || !operation.triggered) {
      release_start(*successor.operation, outcome);
    }
    if (successor.programmatic) finish_operation(*successor.operation, outcome);
  }
  if (waiters_.load() > 0 && !faults_.drops_wakeup()) progress_.notify_all();
}

// ---- what follows a state change; without the mutex ---------------------------------------------

Task Scheduler::hand_out(LinkedList<Task>& tasks, bool on_executor) {
  if (has_callbacks_.load(std::memory_order_acquire)) {
    LinkedList<Task> all = tasks;
    LinkedList<Task> callbacks;
    tasks = {};
    while (!all.empty()) {
      Task& task = all.take_after(nullptr);
      (task.is_callback ? callbacks : tasks).append(task);
    }
    callbacks_->push(callbacks);
  }
  if (tasks.empty()) return {};
  const bool keeps_one = on_executor && executor_.continues_inline() && !is_callback_thread;
  const Task kept = keeps_one ? tasks.take_after(nullptr) : Task{};
  executor_.push(tasks);
  return kept;
}

// Posts before anything that follows can run, so that completions arrive in the order of the
// stream. Releases the stream last: that may end the runtime, and this scheduler with it.
Task Scheduler::settle(Outcome& outcome, bool on_executor) {
  for (const Operation* done = outcome.completed.first(); done != nullptr; done = done->next) {
    for (const Notice& notice : done->notices) post(notice, *done);
  }
  const Task next = hand_out(outcome.tasks, on_executor);
  while (!outcome.completed.empty()) {
    Operation& operation = outcome.completed.take_after(nullptr);
    operation.notices.clear();
    operation.work = nullptr;  // of a mark, which never runs
    { const core::Ref<core::Stream> last = std::move(operation.stream); }
    operation.release();
  }
  return next;
}

void Scheduler::wake_waiters() {
  if (waiters_.load() == 0 || faults_.drops_wakeup()) return;
  LockGuard lock(mutex_);
  progress_.notify_all();
}

// ---- running ------------------------------------------------------------------------------------

Task Scheduler::run(Task task) {
  if (task.plan != nullptr) return run_node(*task.plan, task.node);
  if (task.operation->type == OperationType::kGraph) return start_graph(*task.operation);
  return run_operation(*task.operation);
}

// Taken under the mutex, since a watchdog may look at it; released without.
void Scheduler::give_back(Operation& operation) {
  core::Ref<Work> work;
  std::unique_ptr<GraphLaunch> launch;
  LockGuard lock(mutex_);
  work = std::move(operation.work);
  launch = std::move(operation.launch);
}

Task Scheduler::run_operation(Operation& operation) {
  KernelCall call{this, &operation, nullptr, 0, false};
  trace_work(*operation.work, call);
  give_back(operation);
  Outcome outcome;
  {
    LockGuard lock(mutex_);
    complete(operation, outcome);
  }
  return settle(outcome, true);
}

Task Scheduler::start_graph(Operation& operation) {
  GraphPlan& plan = *operation.launch->plan;
  if (operation.launch->traced != 0) operation.launch->start_ns = core::now_ns();
  plan.start(operation, *operation.launch->graph);
  LinkedList<Task> tasks;
  // Roots are handed out by their count alone: a root may also have an external wait.
  for (const uint32_t root : plan.roots) {
    if (plan.runs[root].start.load() == 0) tasks.append(node_task(plan, root));
  }
  for (ExternalWait& wait : operation.launch->waits) {
    auto& before = static_cast<Operation&>(*wait.ticket);
    LockGuard lock(mutex_);
    if (!before.is_complete()) {
      wait.link = {nullptr, &plan, wait.node, false};
      before.successors.append(wait.link);
      continue;
    }
    if (is_virtual()) raise(plan.runs[wait.node].ready_ns, before.completed_ns());
    if (plan.runs[wait.node].start.fetch_sub(1) == 1) {
      tasks.append(node_task(plan, wait.node));
    }
  }
  return hand_out_roots(plan, tasks);
}

// Takes back the one that `start` counted for itself.
Task Scheduler::hand_out_roots(GraphPlan& plan, LinkedList<Task>& tasks) {
  const Task next = hand_out(tasks, true);
  return plan.remaining.fetch_sub(1) == 1 ? finish_plan(plan) : next;
}

// All nodes are over: the launch is, or one turn of a body.
Task Scheduler::finish_plan(GraphPlan& plan) {
  if (plan.parent != nullptr) {
    GraphPlan& outer = *plan.parent;
    if (is_virtual()) raise(outer.runs[plan.parent_node].end_ns, plan.end_ns.load());
    const core::Work& work = *outer.node(plan.parent_node).work;
    if (work.conditional->type != core::ConditionalType::kWhile) {
      return finish_node(outer, plan.parent_node);
    }
    LinkedList<Task> again;
    again.append(node_task(outer, plan.parent_node));
    return hand_out(again, true);
  }
  Operation& operation = *plan.launch;
  if (is_virtual()) raise(operation.end_ns, plan.end_ns.load());
  if (operation.launch->traced != 0) trace_launch(operation);
  give_back(operation);  // may end the plan
  Outcome outcome;
  {
    LockGuard lock(mutex_);
    complete(operation, outcome);
  }
  return settle(outcome, true);
}

Task& Scheduler::node_task(GraphPlan& plan, uint32_t node) const {
  Task& task = plan.runs[node].task;
  const core::GraphNode& now = plan.node(node);
  task = {nullptr, &plan, node, plan.launch->number, now.stream_id,
          now.work->kind == WorkKind::kHost, nullptr};
  return task;
}

Task Scheduler::run_node(GraphPlan& plan, uint32_t node) {
  const core::GraphNode& now = plan.node(node);
  if (plan.nodes[node].has_launch_edges) release_started(plan, node);
  if (now.work->kind == WorkKind::kConditional) return run_conditional(plan, node);
  if (now.enabled) {
    KernelCall call{this, plan.launch, &plan, node, false};
    trace_work(*now.work, call);
  }
  return finish_node(plan, node);
}

void Scheduler::release_started(GraphPlan& plan, uint32_t node) {
  LinkedList<Task> tasks;
  const PlanNode& started = plan.nodes[node];
  for (uint32_t s = 0; s < started.successors; ++s) {
    const PlanSuccessor& successor = plan.successors[started.first_successor + s];
    if (successor.port != core::EdgePort::kLaunch) continue;
    if (is_virtual()) raise(plan.runs[successor.node].ready_ns, plan.runs[node].ready_ns.load());
    if (plan.runs[successor.node].start.fetch_sub(1) == 1) {
      tasks.append(node_task(plan, successor.node));
    }
  }
  hand_out(tasks, false);
}

// The value counts as it is now; a while comes here again after each turn of its body.
Task Scheduler::run_conditional(GraphPlan& plan, uint32_t node) {
  // On a lost device no kernel ends a loop.
  if (faults_.loss().is_lost()) return finish_node(plan, node);
  const core::Conditional& conditional = *plan.node(node).work->conditional;
  const uint32_t value = plan.condition_value(*conditional.condition);
  const core::Graph* chosen = core::chosen_body(conditional, value);
  for (size_t i = 0; i < conditional.bodies.size(); ++i) {
    if (conditional.bodies[i].get() != chosen) continue;
    GraphPlan& body = *plan.bodies[plan.nodes[node].first_body + i];
    body.start(*plan.launch, *chosen);
    LinkedList<Task> tasks;
    for (const uint32_t root : body.roots) tasks.append(node_task(body, root));
    return hand_out_roots(body, tasks);
  }
  return finish_node(plan, node);
}

Task Scheduler::finish_node(GraphPlan& plan, uint32_t node) {
  // With a programmatic predecessor still running, that one's end completes this node.
  if (plan.runs[node].finish.fetch_sub(1) != 1) return {};
  LinkedList<Task> tasks;
  LinkedList<NodeRun> finished;
  finished.append(plan.runs[node]);
  uint32_t count = 0;
  for (NodeRun* ended = finished.first(); ended != nullptr; ended = ended->next, ++count) {
    const PlanNode& done = plan.nodes[static_cast<size_t>(ended - plan.runs.get())];
    const int64_t end_ns = std::max(ended->ready_ns.load(), ended->end_ns.load());
    if (is_virtual()) raise(plan.end_ns, end_ns);
    const bool triggers = done.has_programmatic && !ended->triggered.exchange(true);
    for (uint32_t s = 0; s < done.successors; ++s) {
      const PlanSuccessor& successor = plan.successors[done.first_successor + s];
      NodeRun& run = plan.runs[successor.node];
      const bool programmatic = successor.port == core::EdgePort::kProgrammatic;
      const bool is_launch = successor.port == core::EdgePort::kLaunch;
      if (is_virtual() && !is_launch) raise(run.ready_ns, end_ns);
      const bool starts = programmatic ? triggers : successor.port == core::EdgePort::kCompletion;
      if (starts && run.start.fetch_sub(1) == 1) tasks.append(node_task(plan, successor.node));
      if (programmatic && run.finish.fetch_sub(1) == 1) finished.append(run);
    }
    if (done.has_programmatic) wake_waiters();
  }
  const Task next = hand_out(tasks, true);
  return plan.remaining.fetch_sub(count) == count ? finish_plan(plan) : next;
}

// ---- programmatic launch ------------------------------------------------------------------------

bool Scheduler::starts_early() {
  // With one thread a dependent that waits inside would wait for ever. The virtual clock knows ends
  // only.
  if (is_virtual()) return false;
  if (options_.pdl == PdlPolicy::kLatest || executor_.is_single()) return false;
  if (options_.pdl == PdlPolicy::kEarliest) return true;
  uint64_t x = coin_.fetch_add(0x9E3779B97F4A7C15u);  // splitmix64
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return ((x ^ (x >> 31)) & 1) != 0;
}

void Scheduler::trigger(const KernelCall& call) {
  if (!starts_early()) return;
  if (call.plan == nullptr) {
    Outcome outcome;
    {
      LockGuard lock(mutex_);
      if (call.operation->triggered) return;
      call.operation->triggered = true;
      for (const Successor* next = call.operation->successors.first(); next != nullptr;
           next = next->next) {
        if (next->programmatic) release_start(*next->operation, outcome);
      }
      drain(outcome);
    }
    settle(outcome, false);
    return;
  }
  GraphPlan& plan = *call.plan;
  const PlanNode& node = plan.nodes[call.node];
  if (!node.has_programmatic || plan.runs[call.node].triggered.exchange(true)) return;
  LinkedList<Task> tasks;
  for (uint32_t s = 0; s < node.successors; ++s) {
    const PlanSuccessor& successor = plan.successors[node.first_successor + s];
    if (successor.port == core::EdgePort::kProgrammatic && plan.runs[successor.node].start.fetch_sub(1) == 1) {
      tasks.append(node_task(plan, successor.node));
    }
  }
  hand_out(tasks, false);
}

void Scheduler::grid_dependency_sync(const KernelCall& call) {
  const std::atomic<uint32_t>& finish = call.plan != nullptr
                                            ? call.plan->runs[call.node].finish
                                            : call.operation->finish_pending;
  const int64_t end = core::now_ns() + kWaitSpinNs;
  while (finish.load() > 1) {
    if (core::now_ns() < end) {
      core::cpu_pause();
      continue;
    }
    executor_.begin_block();
    {
      LockGuard lock(mutex_);
      waiters_.fetch_add(1);
      while (finish.load() > 1) wait_for_progress(INT64_MAX);
      waiters_.fetch_sub(1);
    }
    executor_.end_block();
  }
}

void Scheduler::kernel_ended(const KernelCall& call, const Work& work) {
  const bool programmatic =
      work.is_programmatic() ||
      (call.plan != nullptr && call.plan->nodes[call.node].finish_count > 1);
  if (!programmatic || call.synced) return;
  kernels_without_wait_.fetch_add(1, std::memory_order_relaxed);
  LockGuard lock(mutex_);
  if (has_fault_.load()) return;
  faulty_ = {};
  work.kernel->name().copy(faulty_.data(), faulty_.size() - 1);
  if (options_.strict_pdl) has_fault_.store(true, std::memory_order_release);
}

std::string Scheduler::kernel_without_wait() {
  LockGuard lock(mutex_);
  return faulty_.data();
}

}  // namespace cuda_runtime::cpu
