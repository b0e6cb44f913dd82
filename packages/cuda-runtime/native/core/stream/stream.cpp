#include "core/stream/stream.h"

#include <algorithm>
#include <functional>

#include "core/graph/capture_rules.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/host_function.h"
#include "core/runtime.h"
#include "core/stream/joined_sink.h"
#include "core/stream/launch_events.h"

namespace cuda_runtime::core {
namespace {

std::atomic<uint64_t> next_stream_id{1};

Status timed_out(const Stream& stream, int64_t timeout_ms) {
  return Status::error("CRT_DEADLOCK", kNotReady,
                       "the stream is not idle after " + std::to_string(timeout_ms) + " ms",
                       "Wait longer, or look for a kernel that waits for something later")
      .on_stream(stream.display_name());
}

Status condition_outside_graph(const Stream& stream) {
  return Status::argument("a kernel is given a condition outside a graph",
                          "Launch it inside a capture into the graph or a body of it")
      .on_stream(stream.display_name());
}

}  // namespace

Stream::Stream(Ref<Runtime> runtime, StreamType type, int priority, std::string name)
    : Record(kKind),
      runtime_(std::move(runtime)),
      type_(type),
      id_(next_stream_id.fetch_add(1)),
      priority_(priority),
      name_(std::move(name)),
      display_name_((name_.empty() ? "stream" : name_) + "#" + std::to_string(id_)) {
  queue_ = backend().make_queue(*this);
  runtime_->add_stream(*this);  // may throw, after which there is nothing to undo
  runtime_->live().add(*this);
}

Stream::~Stream() {
  runtime_->remove_stream(*this);
  runtime_->live().remove(*this);
}

// Other threads may have wrappers of the stream, too.
void Stream::on_handle_released() {
  if (handles_.fetch_sub(1) > 1) return;
  LockGuard lock(runtime_->mutex());
  leave_capture(*this);
}

Backend& Stream::backend() const { return runtime_->backend(); }

Status Stream::submit(Ref<Work> work) {
  Status status = check_not_in_callback();
  if (!status.ok()) return status;
  LockGuard lock(runtime_->mutex());
  status = check_submission(*this);
  if (!status.ok()) return status;
  if (capture) return add_node(*this, std::move(work));
  if (!work->conditions.empty()) return condition_outside_graph(*this);
  std::unique_ptr<LaunchEvents> events;
  if (work->events != nullptr && !backend().records_launch_events()) {
    events = std::move(work->events);
  }
  const auto mark_events = [&] {
    if (events == nullptr) return;
    for (const Ref<Event>& event : {events->triggered, events->started}) {
      if (!event) continue;
      set_launch_event(*event, backend().mark(*this, {}));
      runtime_->races().marked(*this, *event->ticket);
    }
  };
  if (!runtime_->orders_host()) {
    enqueue(std::move(work));
    mark_events();
    return {};
  }
  const Ref<Work> kept = work;
  const Ref<Ticket> ticket = enqueue(std::move(work));
  runtime_->races().submitted(*this, *kept, *ticket);
  // In time even if the work is over: completions are delivered on this thread, later.
  if (kept->sink) kept->sink->expect(kept->token, runtime_, ticket);
  mark_events();
  return {};
}

Ref<Ticket> Stream::enqueue(Ref<Work> work) {
  const WorkKind kind = work->kind;
  Trace& trace = runtime_->trace();
  bool by_events = false;
  if (trace.is_on()) {
    work->traced = trace.submit(trace_point);
    by_events = runtime_->event_trace().is_on();
  }
  Ref<Ticket> ticket = by_events ? runtime_->event_trace().enqueue(*this, std::move(work))
                                 : backend().enqueue(*this, std::move(work));
  runtime_->launches.add(kind);
  return ticket;
}

Status Stream::submit_eager(Ref<Work> work, const char* what) {
  {
    LockGuard lock(runtime_->mutex());
    if (capture && capture->state == CaptureState::kActive) {
      Status status =
          Status::error("CRT_CAPTURE_UNSUPPORTED", kStreamCaptureUnsupported,
                        std::string(what) + " JavaScript memory cannot be recorded in a graph",
                        "Move it out of the capture, or copy from a host buffer");
      status.fault().rule = "CU15";
      runtime_->guard_refusals.add("CU15");
      return std::move(status).on_stream(display_name()).in_capture(capture->id);
    }
  }
  return submit(std::move(work));
}

Status Stream::synchronize(Ref<CompletionSink> sink, int64_t token) {
  Status status = check_not_in_callback();
  if (!status.ok()) return status;
  LockGuard lock(runtime_->mutex());
  status = check_stream_query(*this, "synchronising a stream");
  if (!status.ok()) return status;
  MarkRequest request;
  request.token = token;
  request.api = "stream.synchronize";
  request.sink = sink;
  const Ref<Ticket> ticket = backend().mark(*this, request);
  runtime_->races().marked(*this, *ticket);
  if (runtime_->orders_host()) sink->expect(token, runtime_, ticket);
  return {};
}

Status Stream::synchronize_blocking(int64_t timeout_ms) {
  Status inside = check_not_in_callback();
  if (!inside.ok()) return inside;
  Ref<Ticket> ticket;
  {
    LockGuard lock(runtime_->mutex());
    Status status = check_stream_query(*this, "synchronising a stream");
    if (!status.ok()) return status;
    ticket = backend().mark(*this, {});
    runtime_->races().marked(*this, *ticket);
  }
  if (!backend().wait_blocking(*ticket, timeout_ms)) return timed_out(*this, timeout_ms);
  runtime_->host_waited(*ticket);
  return backend().take_fault();
}

Status Stream::is_idle(bool& idle) {
  LockGuard lock(runtime_->mutex());
  Status status = check_stream_query(*this, "querying a stream");
  if (!status.ok()) return status;
  std::vector<Ref<Stream>> streams{Ref<Stream>(this)};
  // What waiting for the legacy stream would wait for: it comes after every blocking stream.
  if (is_legacy()) {
    runtime_->each_stream([&](Stream& stream) {
      if (stream.is_blocking() && stream.try_retain()) streams.push_back(adopt_ref(&stream));
    });
  }
  idle = std::none_of(streams.begin(), streams.end(), [&](const Ref<Stream>& stream) {
    return static_cast<bool>(backend().tail(*stream));
  });
  if (!idle) return {};
  for (const Ref<Stream>& stream : streams) {
    runtime_->races().host_saw_idle(*stream);
    backend().host_saw_idle(*stream);
  }
  return {};
}

Status Stream::capture_status(int& status, uint64_t& id) {
  LockGuard lock(runtime_->mutex());
  status = 0;
  id = 0;
  if (capture) {
    status = capture->state == CaptureState::kActive ? 1 : 2;
    id = capture->id;
  }
  return {};
}

Status Stream::wait_stream(Stream& other) {
  if (&other.runtime() != runtime_.get()) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         "the streams belong to different runtimes", "Open one runtime");
  }
  if (&other == this) return {};
  LockGuard lock(runtime_->mutex());
  for (Stream* stream : {&other, this}) {
    Status status = check_submission(*stream);
    if (!status.ok()) return status;
  }
  if (other.capture) return wait_captured(*other.capture, Frontier(other.frontier));
  if (capture) {
    return refuse(*runtime_, capture.get(),
                  Status::error("CRT_CAPTURE_ISOLATION", kStreamCaptureIsolation,
                                "inside a capture the stream cannot wait for " +
                                    other.display_name() + ", which is not part of it",
                                "Let " + other.display_name() +
                                    " wait for this stream first, or wait before the capture")
                      .on_stream(display_name()),
                  "CX03");
  }
  if (runtime_->trace().is_on()) trace_point.wait(other.trace_point.sources());
  // The tail of the legacy stream or a blocking one does not show what these are ordered with.
  const bool marks = runtime_->orders_host() || other.is_legacy() || other.is_blocking();
  const Ref<Ticket> ticket = marks ? backend().mark(other, {}) : backend().tail(other);
  if (!ticket) return {};
  if (marks) runtime_->races().marked(other, *ticket);
  backend().wait(*this, *ticket);
  runtime_->races().waited(*this, *ticket);
  return {};
}

Status Stream::wait_captured(CaptureSequence& sequence, const Frontier& snapshot) {
  if (is_legacy()) {
    return refuse(*runtime_, &sequence,
                  Status::error("CRT_CAPTURE_UNSUPPORTED", kStreamCaptureImplicit,
                                "the legacy stream cannot take part in a capture",
                                "Use a stream of your own"),
                  "CL04");
  }
  if (!capture) {
    join_capture(*this, sequence, snapshot);
    return {};
  }
  if (capture.get() == &sequence) {
    merge_frontier(*this, snapshot);
    return {};
  }
  Status status = Status::error("CRT_CAPTURE_MERGE", kStreamCaptureMerge,
                                "two captures cannot be joined: " + std::to_string(capture->id) +
                                    " and " + std::to_string(sequence.id),
                                "Capture both parts in one capture");
  invalidate(*capture, status);
  invalidate(sequence, status);
  return std::move(status).on_stream(display_name()).in_capture(capture->id);
}

Status Stream::begin_capture(int mode, const CaptureTarget& target) {
  LockGuard lock(runtime_->mutex());
  return core::begin_capture(*this, mode, target);
}

Status Stream::capture_frontier(std::vector<uint32_t>& nodes) {
  LockGuard lock(runtime_->mutex());
  for (const GraphDependency& dependency : frontier) nodes.push_back(dependency.node);
  return {};
}

Status Stream::set_capture_frontier(const std::vector<uint32_t>& nodes, bool replace) {
  LockGuard lock(runtime_->mutex());
  return set_frontier(*this, nodes, replace);
}

Status Stream::end_capture(Ref<Graph>& graph) {
  LockGuard lock(runtime_->mutex());
  return core::end_capture(*this, graph);
}

void Stream::abort_capture() {
  LockGuard lock(runtime_->mutex());
  core::abort_capture(*this);
}

namespace {

/// A mark behind everything that was submitted to any stream, also one that is gone. Needs the
/// runtime's mutex.
void mark_all(Runtime& runtime, const std::function<MarkRequest()>& request,
              std::vector<Ref<Ticket>>& tickets) {
  std::vector<Ref<Stream>> streams;
  runtime.each_stream([&](Stream& stream) {
    if (stream.try_retain()) streams.push_back(adopt_ref(&stream));
  });
  for (const Ref<Stream>& stream : streams) {
    tickets.push_back(runtime.backend().mark(*stream, request()));
    runtime.races().marked(*stream, *tickets.back());
  }
  for (Ref<Ticket>& ticket : runtime.backend().tails_of_closed()) {
    const MarkRequest asked = request();
    if (asked.sink) runtime.backend().notify(*ticket, asked);
    tickets.push_back(std::move(ticket));
  }
}

}  // namespace

Status synchronize_device(Runtime& runtime) {
  Status inside = check_not_in_callback();
  if (!inside.ok()) return inside;
  std::vector<Ref<Ticket>> tickets;
  {
    LockGuard lock(runtime.mutex());
    Status status = check_device_synchronize(runtime);
    if (!status.ok()) return status;
    mark_all(runtime, [] { return MarkRequest(); }, tickets);
  }
  for (const Ref<Ticket>& ticket : tickets) {
    runtime.backend().wait_blocking(*ticket, -1);
    runtime.host_waited(*ticket);
  }
  return runtime.backend().take_fault();
}

Status synchronize_device(Runtime& runtime, Ref<CompletionSink> sink, int64_t token) {
  Status inside = check_not_in_callback();
  if (!inside.ok()) return inside;
  const auto joined = make_ref<JoinedSink>(std::move(sink), token);
  const auto request = [&] {
    joined->add();
    MarkRequest made;
    made.token = token;
    made.api = "device.synchronize";
    made.sink = joined;
    return made;
  };
  std::vector<Ref<Ticket>> tickets;
  {
    LockGuard lock(runtime.mutex());
    Status status = check_device_wait(runtime);
    if (!status.ok()) return status;
    mark_all(runtime, request, tickets);
    if (runtime.orders_host()) {
      for (const Ref<Ticket>& ticket : tickets) joined->expect(token, Ref<Runtime>(&runtime), ticket);
    }
  }
  joined->post(token, {});
  return {};
}

}  // namespace cuda_runtime::core
