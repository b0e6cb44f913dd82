#include "core/stream/event.h"

#include "core/graph/capture_rules.h"
#include "core/runtime.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

Status external_outside_capture(Stream& stream) {
  return Status::error("CRT_CAPTURE_STATE", kIllegalState,
                       "`external` makes a graph node and needs a stream that is being captured",
                       "Leave it out outside a capture")
      .on_stream(stream.display_name());
}

Status stale() {
  return Status::error("CRT_EVENT_STALE", kInvalidValue,
                       "the event was recorded in a capture that is over",
                       "Record it again, or record it as external inside the capture");
}

Status no_time(const char* detail) {
  return Status::error("CRT_EVENT_NO_TIMING", kInvalidResourceHandle, detail,
                       "Create both events with timing");
}

}  // namespace

Event::Event(Ref<Runtime> runtime, bool timing)
    : Record(kKind), runtime_(std::move(runtime)), timing_(timing) {
  runtime_->live().add(*this);
}

Event::~Event() { runtime_->live().remove(*this); }

Status Event::check_runtime(Stream& stream) const {
  if (&stream.runtime() == runtime_.get()) return {};
  return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                       "the event and the stream belong to different runtimes", "Open one runtime");
}

Status Event::record(Stream& stream, bool external) {
  Status status = check_runtime(stream);
  if (!status.ok()) return status;
  LockGuard lock(runtime_->mutex());
  status = check_submission(stream);
  if (!status.ok()) return status;
  if (external) return record_external(stream);
  if (stream.capture) {
    ticket = nullptr;
    sequence = stream.capture;
    snapshot = stream.frontier;
    return {};
  }
  MarkRequest request;
  request.timing = timing_;
  std::vector<uint64_t> sources;
  if (runtime_->trace().is_on()) sources = stream.trace_point.sources();
  ticket = runtime_->backend().mark(stream, request);
  runtime_->races().marked(stream, *ticket);
  sequence = nullptr;
  snapshot.clear();
  trace_sources = std::move(sources);
  return {};
}

Status Event::record_external(Stream& stream) {
  if (!stream.capture) return external_outside_capture(stream);
  auto work = make_ref<Work>(WorkKind::kEventRecord);
  work->event = Ref<Event>(this);
  return add_node(stream, std::move(work));
}

Status Event::wait(Stream& stream, bool external) {
  Status status = check_runtime(stream);
  if (!status.ok()) return status;
  LockGuard lock(runtime_->mutex());
  status = check_submission(stream);
  if (!status.ok()) return status;
  if (external) return wait_external(stream);
  if (sequence && sequence->state != CaptureState::kActive) {
    return refuse(*runtime_, stream.capture.get(), stale().on_stream(stream.display_name()), "CX22");
  }
  if (sequence) return stream.wait_captured(*sequence, Frontier(snapshot));
  if (!ticket) {
    if (!runtime_->options().strict_events) return {};
    return Status::error("CRT_EVENT_NOT_RECORDED", 0,
                         "the event was never recorded, so that waiting for it orders nothing",
                         "Record it first, or open the runtime without strictEvents");
  }
  if (stream.capture) {
    return refuse(*runtime_, stream.capture.get(),
                  Status::error("CRT_CAPTURE_ISOLATION", kStreamCaptureIsolation,
                                "inside a capture the stream cannot wait for an event that was "
                                "recorded outside",
                                "Wait before the capture begins, or use an external wait")
                      .on_stream(stream.display_name()),
                  "CX02");
  }
  if (runtime_->trace().is_on()) stream.trace_point.wait(trace_sources);
  runtime_->backend().wait(stream, *ticket);
  runtime_->races().waited(stream, *ticket);
  return {};
}

Status Event::wait_external(Stream& stream) {
  if (!stream.capture) return external_outside_capture(stream);
  auto work = make_ref<Work>(WorkKind::kEventWait);
  work->event = Ref<Event>(this);
  return add_node(stream, std::move(work));
}

EventState Event::state() {
  LockGuard lock(runtime_->mutex());
  if (sequence) {
    return sequence->state == CaptureState::kActive ? EventState::kCaptured : EventState::kStale;
  }
  if (!ticket) return EventState::kUnrecorded;
  return runtime_->backend().poll(*ticket) ? EventState::kComplete : EventState::kPending;
}

Status Event::query(bool& complete) {
  LockGuard lock(runtime_->mutex());
  Status status = check_event_query(*this, "querying an event");
  if (!status.ok()) return status;
  complete = !ticket || runtime_->backend().poll(*ticket);
  if (complete && ticket) runtime_->host_waited(*ticket);
  return {};
}

Status Event::done(Ref<CompletionSink> sink, int64_t token) {
  LockGuard lock(runtime_->mutex());
  Status status = check_event_query(*this, "waiting for an event");
  if (!status.ok()) return status;
  if (!ticket) {
    sink->post(token, {});
    return {};
  }
  if (runtime_->orders_host()) sink->expect(token, runtime_, ticket);
  MarkRequest request;
  request.sink = std::move(sink);
  request.token = token;
  request.api = "event.done";
  runtime_->backend().notify(*ticket, request);
  return {};
}

Status Event::wait_blocking() {
  Ref<Ticket> seen;
  {
    LockGuard lock(runtime_->mutex());
    Status status = check_event_query(*this, "waiting for an event");
    if (!status.ok()) return status;
    seen = ticket;
  }
  if (!seen) return {};
  runtime_->backend().wait_blocking(*seen, -1);
  runtime_->host_waited(*seen);
  return runtime_->backend().take_fault();
}

Status Event::elapsed_ms(Event& start, Event& end, double& milliseconds) {
  Runtime& runtime = start.runtime();
  LockGuard lock(runtime.mutex());
  for (Event* event : {&start, &end}) {
    if (!event->sequence) continue;
    if (event->sequence->state != CaptureState::kActive) return stale();
    // Harmless: the one call of this family that leaves the capture intact (CU07).
    return Status::error("CRT_CAPTURE_UNSUPPORTED", kCapturedEvent,
                         "the event was recorded in an open capture",
                         "Use external events to time a graph")
        .in_capture(event->sequence->id);
  }
  for (Event* event : {&start, &end}) {
    if (!event->timing_) return no_time("the event was created without timing");
    if (!event->ticket) {
      return Status::error("CRT_EVENT_NOT_RECORDED", kInvalidResourceHandle,
                           "the event was never recorded", "Record both events first");
    }
  }
  Backend& backend = runtime.backend();
  if (!backend.poll(*start.ticket) || !backend.poll(*end.ticket)) {
    return Status::error("CRT_EVENT_NOT_READY", kNotReady, "the events are not complete",
                         "Wait for `end.done()` first");
  }
  milliseconds = backend.elapsed_ms(*start.ticket, *end.ticket);
  return {};
}

}  // namespace cuda_runtime::core
