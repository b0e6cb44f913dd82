#include "core/check/event_trace.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/runtime.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

// Launches of one executable that may be under way at once while traced. Each needs a copy of its
// own, since a launch records into the events of its copy.
constexpr size_t kMostCopies = 8;
constexpr size_t kCollectEvery = 256;
// How long the clocks may be compared, on the JavaScript thread, and the slowest answer that says
// enough about when the device gave it. A slower one is asked for again: a call of another thread
// held the driver (the reaper unloads code, say). A stop without an answer loses the drift alone,
// and so does not try for longer.
constexpr int64_t kStartTimeoutMs = 100;
constexpr int64_t kAnswerMs = 3;
constexpr int kBaseAttempts = 3;
constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

Status EventTrace::measure_base(Runtime& runtime, int64_t timeout_ms, Base& base) {
  const Ref<Stream> stream = runtime.create_stream(0, false, "trace");
  const int64_t end_ns = now_ns() + timeout_ms * kNsPerMs;
  int64_t shortest_ns = kAnswerMs * kNsPerMs;
  for (int answers = 0; answers < kBaseAttempts;) {
    const int64_t before_ns = now_ns();
    if (before_ns >= end_ns) break;
    Ref<Ticket> ticket;
    {
      LockGuard lock(runtime.mutex());
      ticket = timed_mark(*stream);
    }
    const int64_t left_ms = (end_ns - now_ns() + kNsPerMs - 1) / kNsPerMs;
    if (!runtime.backend().wait_blocking(*ticket, std::max<int64_t>(left_ms, 0))) break;
    const int64_t after_ns = now_ns();
    const int64_t took_ns = after_ns - before_ns;
    if (took_ns <= kAnswerMs * kNsPerMs) ++answers;
    if (took_ns > shortest_ns) continue;
    shortest_ns = took_ns;
    base.ticket = std::move(ticket);
    base.ns = after_ns;
  }
  if (base.ticket) return {};
  return Status::error("CRT_BUSY", kNotReady,
                       "in " + std::to_string(timeout_ms) +
                           " ms the device gave no answer within " + std::to_string(kAnswerMs) +
                           " ms, so that its clock cannot be compared with the host's",
                       "Await `device.synchronize()` before the trace starts");
}

Status EventTrace::start(Runtime& runtime) {
  Base base;
  Status status = measure_base(runtime, kStartTimeoutMs, base);
  if (!status.ok()) return status;
  LockGuard lock(runtime.mutex());
  EventTrace& trace = runtime.event_trace();
  trace.clear();
  trace.base_ = std::move(base.ticket);
  trace.base_ns_ = base.ns;
  return {};
}

Status EventTrace::stop(Runtime& runtime, TraceLosses& losses) {
  Base base;
  // A device that is busy now leaves the drift unknown; what was recorded is not lost for that.
  const bool has_base = measure_base(runtime, kAnswerMs, base).ok();
  LockGuard lock(runtime.mutex());
  EventTrace& trace = runtime.event_trace();
  if (!trace.is_on()) return {};
  trace.collect(runtime);
  losses.running = trace.pairs_.size() + trace.replays_.size();
  losses.launches = trace.skipped_launches_;
  losses.has_drift = has_base;
  if (has_base) losses.drift_ns = trace.ns_of(runtime, *base.ticket) - base.ns;
  trace.clear();
  return {};
}

void EventTrace::clear() {
  base_ = nullptr;
  pairs_.clear();
  for (const Replay& replay : replays_) replay.copy->running = nullptr;
  replays_.clear();
  skipped_launches_ = 0;
}

int64_t EventTrace::ns_of(Runtime& runtime, Ticket& ticket) const {
  const double ms = runtime.backend().elapsed_ms(*base_, ticket);
  return base_ns_ + static_cast<int64_t>(ms * 1e6);
}

Ref<Ticket> EventTrace::timed_mark(Stream& stream) {
  MarkRequest request;
  request.timing = true;
  return stream.runtime().backend().mark(stream, request);
}

Ref<Ticket> EventTrace::enqueue(Stream& stream, Ref<Work> work) {
  Span span = span_of(*work, stream.display_name());
  work->traced = 0;  // not by the backend, too
  Ref<Ticket> begin = timed_mark(stream);
  if (pairs_.size() % kCollectEvery == kCollectEvery - 1) collect(stream.runtime());
  Ref<Ticket> ticket = stream.runtime().backend().enqueue(stream, std::move(work));
  expect(stream, std::move(span), std::move(begin));
  return ticket;
}

// The operation is submitted: what fails here costs a span, nothing else.
void EventTrace::expect(Stream& stream, Span span, Ref<Ticket> begin) noexcept {
  try {
    pairs_.push_back({std::move(span), std::move(begin), timed_mark(stream)});
  } catch (const std::exception&) {
    stream.runtime().trace().lose();
  }
}

Status EventTrace::launch(Stream& stream, Exec& exec, bool& launched) {
  Runtime& runtime = stream.runtime();
  if (runtime.trace().mode() == TraceMode::kGraph) return launch_copy(stream, exec, launched);
  Span span =
      span_of_launch(*exec.graph(), stream.display_name(), exec.traced, exec.launches() + 1);
  exec.traced = 0;
  Ref<Ticket> begin = timed_mark(stream);
  exec.last_launch = runtime.backend().launch(stream, exec);
  launched = true;
  expect(stream, std::move(span), std::move(begin));
  return {};
}

Status EventTrace::launch_copy(Stream& stream, Exec& exec, bool& launched) {
  Runtime& runtime = stream.runtime();
  collect(runtime);
  Ref<TracedCopy> copy;
  Status status = free_copy(exec, copy);
  if (!status.ok()) return status;
  if (!copy) {
    ++skipped_launches_;
    return {};
  }
  replays_.push_back({copy, exec.traced, exec.launches() + 1});
  copy->exec->last_launch = exec.last_launch;
  try {
    exec.last_launch = runtime.backend().launch(stream, *copy->exec);
    launched = true;
    copy->exec->last_launch = nullptr;
    copy->running = timed_mark(stream);
  } catch (...) {
    replays_.pop_back();
    if (!launched) throw;
    runtime.trace().lose();
  }
  return {};
}

Status EventTrace::free_copy(Exec& exec, Ref<TracedCopy>& copy) {
  for (const Ref<TracedCopy>& known : exec.traced_copies) {
    if (!known->running) {
      copy = known;
      return {};
    }
  }
  if (exec.traced_copies.size() >= kMostCopies) return {};
  Status status = make_traced_copy(*exec.graph(), exec.options().node_priority, copy);
  if (status.ok()) exec.traced_copies.push_back(copy);
  return status;
}

void EventTrace::collect(Runtime& runtime) noexcept {
  Backend& backend = runtime.backend();
  // What cannot be read is lost, and nothing else: `erase_if` must not be left in the middle.
  const auto is_over = [&](Ticket& end, auto read) {
    try {
      if (!backend.poll(end)) return false;
      read();
    } catch (const std::exception&) {
      runtime.trace().lose();
    }
    return true;
  };
  std::erase_if(pairs_, [&](Pair& pair) {
    return is_over(*pair.end, [&] {
      pair.span.start_ns = ns_of(runtime, *pair.begin);
      pair.span.end_ns = ns_of(runtime, *pair.end);
      runtime.trace().add(std::move(pair.span));
    });
  });
  std::erase_if(replays_, [&](const Replay& replay) {
    if (!is_over(*replay.copy->running, [&] { collect_replay(runtime, replay); })) return false;
    replay.copy->running = nullptr;
    return true;
  });
}

void EventTrace::collect_replay(Runtime& runtime, const Replay& replay) {
  for (const TimedNode& timed : replay.copy->timed) {
    if (!timed.begin->ticket || !timed.end->ticket) continue;
    Span span = timed.span;
    span.operation = replay.operation;
    span.replay = replay.number;
    span.start_ns = ns_of(runtime, *timed.begin->ticket);
    span.end_ns = ns_of(runtime, *timed.end->ticket);
    runtime.trace().add(std::move(span));
  }
}

}  // namespace cuda_runtime::core
