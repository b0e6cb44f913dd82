#include "core/stream/launch_events.h"

#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

void capture_event(Stream& stream, Event& event, GraphDependency point) {
  event.ticket = nullptr;
  event.snapshot.assign(1, point);
  event.sequence = stream.capture;
}

}  // namespace

Status check_launch_events(const Stream& stream, const LaunchEvents& events) {
  for (const Ref<Event>& event : {events.triggered, events.started}) {
    if (!event) continue;
    if (&event->runtime() != &stream.runtime()) {
      return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                           "an event of `programmatic` and the stream belong to different runtimes",
                           "Open one runtime");
    }
    if (event->has_timing()) {
      return Status::error("CRT_LAUNCH_CONFIG", kNotSupported,
                           "an event that a launch records cannot have timing",
                           "Create the event of `programmatic` without timing");
    }
  }
  return {};
}

void capture_launch_events(Stream& stream, uint32_t node, const LaunchEvents& events) {
  if (events.triggered) {
    capture_event(stream, *events.triggered,
                  {node, EdgeType::kProgrammatic, EdgePort::kProgrammatic});
  }
  if (events.started) {
    capture_event(stream, *events.started, {node, EdgeType::kFull, EdgePort::kLaunch});
  }
}

void set_launch_event(Event& event, Ref<Ticket> ticket) {
  event.ticket = std::move(ticket);
  event.sequence = nullptr;
  event.snapshot.clear();
}

}  // namespace cuda_runtime::core
