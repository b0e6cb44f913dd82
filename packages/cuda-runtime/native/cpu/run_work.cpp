// What an operation does when it runs, and its span in the trace.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "core/graph/nodes/graph_buffer.h"
#include "core/graph/nodes/host_function.h"
#include "cpu/check/activity.h"
#include "cpu/check/virtual_clock.h"
#include "cpu/device/move_bytes.h"
#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {
namespace {

using core::LockGuard;
using core::Work;
using core::WorkKind;

constexpr uint8_t kFresh = 0xA5;  // as the memory pool poisons
constexpr uint8_t kFreed = 0xDD;

core::Span span_of(const Work& work, const KernelCall& call) {
  if (call.plan == nullptr) return core::span_of(work, call.operation->stream->display_name());
  const GraphLaunch& launch = *call.operation->launch;
  // Work of a body shows as its node of the graph that was launched.
  uint32_t node = call.node;
  for (const GraphPlan* plan = call.plan; plan->parent != nullptr; plan = plan->parent) {
    node = plan->parent_node;
  }
  const std::string& stream = call.plan->node(call.node).stream_name;
  core::Span span =
      core::span_of(work, stream.empty() ? call.operation->stream->display_name() : stream);
  span.operation = launch.traced;
  span.graph = launch.graph->id();
  span.capture_id = launch.graph->capture_id;
  span.replay = launch.number;
  span.node = node;
  span.is_node = true;
  return span;
}

bool is_traced(const Work& work, const KernelCall& call) {
  if (call.plan == nullptr) return work.traced != 0;
  const GraphLaunch& launch = *call.operation->launch;
  return launch.traced != 0 && launch.traces_nodes;
}

}  // namespace

void Scheduler::trace_work(const Work& work, KernelCall& call) {
  const Activity activity(*this, work, call);
  const bool traced = is_traced(work, call);
  int64_t start_ns = traced ? core::now_ns() : 0;
  run_work(work, call);
  int64_t end_ns = traced ? core::now_ns() : 0;
  if (is_virtual()) {
    NodeRun* const run = call.plan != nullptr ? &call.plan->runs[call.node] : nullptr;
    start_ns = run != nullptr ? run->ready_ns.load() : call.operation->ready_ns.load();
    // Host functions run one after another, in the order in which the one thread takes them.
    const bool is_host = work.kind == WorkKind::kHost;
    if (is_host) start_ns = std::max(start_ns, callbacks_end_ns_.load());
    end_ns = start_ns + virtual_cost(options_.checks, work) + call.late_ns;
    (run != nullptr ? run->end_ns : call.operation->end_ns).store(end_ns);
    if (is_host) callbacks_end_ns_.store(end_ns);
  }
  if (!traced) return;
  try {
    core::Span span = span_of(work, call);
    span.thread = static_cast<uint64_t>(pthread_self());
    span.start_ns = start_ns;
    span.end_ns = end_ns;
    trace_.add(std::move(span));
  } catch (const std::bad_alloc&) {
    trace_.lose();
  }
  if (call.plan == nullptr) trace_.ended(work.traced);
}

void Scheduler::trace_launch(const Operation& operation) {
  const GraphLaunch& launch = *operation.launch;
  trace_.ended(launch.traced);
  if (launch.traces_nodes) return;
  try {
    core::Span span = core::span_of_launch(*launch.graph, operation.stream->display_name(),
                                           launch.traced, launch.number);
    span.start_ns = is_virtual() ? operation.ready_ns.load() : launch.start_ns;
    span.end_ns = is_virtual() ? std::max(operation.ready_ns.load(), operation.end_ns.load())
                               : core::now_ns();
    trace_.add(std::move(span));
  } catch (const std::bad_alloc&) {
    trace_.lose();
  }
}

// Without memory for the bytes the read fails alone: its promise is told, the stream goes on.
void Scheduler::stage_read(const Work& work, Operation& operation) {
  std::unique_ptr<core::StagedBytes> bytes;
  try {
    bytes = std::make_unique<core::HeapBytes>(work.bytes);
    move_bytes(bytes->data(), work.from, work.bytes, Activity::advance);
    work.sink->stage(work.token, std::move(bytes));
    return;
  } catch (const std::bad_alloc&) {
    operation.out_of_memory = true;
  }
  try {
    operation.failure = core::Status::error("CRT_OOM", core::kMemoryAllocation,
                                            "no memory to stage " + std::to_string(work.bytes) +
                                                " bytes",
                                            "Read in smaller pieces, or copy to a host buffer");
    operation.out_of_memory = false;
  } catch (const std::bad_alloc&) {
    // The short text of `out_of_memory` needs none.
  }
}

// Another thread may take this one's place.
void Scheduler::sleep_late(int64_t late_ns) {
  executor_.begin_block();
  std::this_thread::sleep_for(std::chrono::nanoseconds(late_ns));
  executor_.end_block();
}

void Scheduler::run_work(const Work& work, KernelCall& call) {
  const int64_t late_ns = faults_.before(work);
  if (late_ns > 0 && is_virtual()) call.late_ns = late_ns;
  if (late_ns > 0 && !is_virtual()) sleep_late(late_ns);
  if (faults_.loss().is_lost() && work.kind != WorkKind::kEventRecord) {
    // Nothing runs on a lost device, and everything ends; whoever waits is told why.
    if (work.kind == WorkKind::kNotify) post({work.sink, work.token, ""}, *call.operation);
    return;
  }
  const PageGuard::Use use(pages_, work);
  switch (work.kind) {
    case WorkKind::kKernel:
      call_kernel(work, call);
      kernel_ended(call, work);
      break;
    case WorkKind::kCopy:
    case WorkKind::kWrite:
      move_bytes(work.to, work.from, work.bytes, Activity::advance);
      break;
    case WorkKind::kFill:
      fill_bytes(work.to, work.fill_byte, work.bytes, Activity::advance);
      break;
    case WorkKind::kRead:
      stage_read(work, *call.operation);
      break;
    case WorkKind::kNotify:
      work.sink->post(work.token, {});
      break;
    case WorkKind::kEventRecord:
      for (const auto& [node, record] : call.operation->launch->records) {
        if (node != call.node) continue;
        if (is_virtual()) raise(record->ready_ns, call.plan->runs[node].ready_ns.load());
        Outcome outcome;
        {
          LockGuard lock(mutex_);
          complete(*record, outcome);
        }
        const Task next = settle(outcome, false);
        (void)next;
      }
      break;
    case WorkKind::kHost:
      work.host->call();
      break;
    case WorkKind::kAlloc:
    case WorkKind::kFree:
      if (options_.poison && work.bytes > 0) {
        const uint8_t byte = work.kind == WorkKind::kAlloc ? kFresh : kFreed;
        fill_bytes(work.memory->data(), byte, work.bytes, Activity::advance);
      }
      break;
    case WorkKind::kEventWait:    // the node's start count did the waiting
    case WorkKind::kEmpty:
    case WorkKind::kChild:        // its nodes are in the plan
    case WorkKind::kConditional:  // run_conditional
      break;
  }
}

}  // namespace cuda_runtime::cpu
