#include "core/graph/capture_rules.h"

#include <algorithm>

#include "core/runtime.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

Status unsupported(int number, std::string detail, std::string hint) {
  return Status::error("CRT_CAPTURE_UNSUPPORTED", number, std::move(detail), std::move(hint));
}

bool has_blocking_participant(const CaptureSequence& sequence) {
  for (const Ref<Stream>& stream : sequence.participants) {
    if (stream->is_blocking()) return true;
  }
  return false;
}

}  // namespace

Status refuse(Runtime& runtime, CaptureSequence* sequence, Status status, const char* rule) {
  if (sequence == nullptr) return status;
  if (runtime.options().guards) {
    status.fault().rule = rule;
    runtime.guard_refusals.add(rule);
  } else {
    invalidate(*sequence, status);
  }
  return std::move(status).in_capture(sequence->id);
}

Status check_unsafe(Runtime& runtime, const char* what, const char* rule) {
  const std::thread::id self = std::this_thread::get_id();
  Status result;
  for (CaptureSequence* sequence : runtime.captures()) {
    const bool forbids = sequence->thread == self ? sequence->mode != CaptureMode::kRelaxed
                                                  : sequence->mode == CaptureMode::kGlobal;
    if (!forbids) continue;
    result = refuse(runtime, sequence,
                    unsupported(kStreamCaptureUnsupported,
                                std::string(what) + " is not allowed while " +
                                    sequence->origin->display_name() + " is being captured",
                                "Move it out of the capture"),
                    rule);
  }
  return result;
}

Status check_legacy(Stream& stream) {
  Status result;
  if (!stream.is_legacy()) return result;
  for (CaptureSequence* sequence : stream.runtime().captures()) {
    if (!has_blocking_participant(*sequence)) continue;
    result = refuse(stream.runtime(), sequence,
                    unsupported(kStreamCaptureImplicit,
                                "the legacy stream would wait for a blocking stream that is being "
                                "captured",
                                "Use streams that are not blocking, or use it after the capture")
                        .on_stream(stream.display_name()),
                    "CL01");
  }
  return result;
}

Status check_submission(Stream& stream) {
  if (stream.is_legacy()) return check_legacy(stream);
  if (!stream.capture || stream.capture->state == CaptureState::kActive) return {};
  const CaptureSequence& sequence = *stream.capture;
  return Status::error("CRT_CAPTURE_INVALIDATED", kStreamCaptureInvalidated,
                       sequence.first_error.ok()
                           ? "the capture was broken earlier"
                           : "the capture was broken earlier: " +
                                 sequence.first_error.fault().detail,
                       "End or abort the capture, then capture again")
      .on_stream(stream.display_name())
      .in_capture(sequence.id)
      .caused_by(sequence.first_error);
}

Status check_stream_query(Stream& stream, const char* what) {
  Status status = check_legacy(stream);
  if (!status.ok()) return status;
  if (!stream.capture) {
    return check_unsafe(stream.runtime(), what, stream.is_legacy() ? "CU04" : "CU03");
  }
  return refuse(stream.runtime(), stream.capture.get(),
                unsupported(kStreamCaptureUnsupported,
                            std::string(what) + " is not possible while the stream is captured",
                            "Synchronise after the capture")
                    .on_stream(stream.display_name()),
                "CU01");
}

Status check_device_synchronize(Runtime& runtime) {
  Status result;
  for (CaptureSequence* sequence : runtime.captures()) {
    result = refuse(runtime, sequence,
                    unsupported(kStreamCaptureUnsupported,
                                "synchronising the device would break the capture on " +
                                    sequence->origin->display_name(),
                                "Synchronise streams, or wait until the capture has ended"),
                    "CU02");
  }
  return result;
}

Status check_device_wait(Runtime& runtime) {
  const std::thread::id self = std::this_thread::get_id();
  const std::vector<CaptureSequence*>& captures = runtime.captures();
  const bool is_capturing = std::any_of(captures.begin(), captures.end(),
                                        [&](const CaptureSequence* s) { return s->thread == self; });
  return is_capturing ? check_device_synchronize(runtime)
                      : check_unsafe(runtime, "waiting for the device", "CU02");
}

Status check_event_query(Event& event, const char* what) {
  if (!event.sequence) return check_unsafe(event.runtime(), what, "CU05");
  if (event.sequence->state != CaptureState::kActive) {
    return Status::error("CRT_EVENT_STALE", kInvalidValue,
                         "the event was recorded in a capture that is over",
                         "Record it again, or record it as external inside the capture");
  }
  return refuse(event.runtime(), event.sequence.get(),
                unsupported(kCapturedEvent,
                            std::string(what) +
                                " is not possible: the event was recorded in an open capture",
                            "Use it after the capture, recorded as external"),
                "CU06");
}

Status check_graph_launch(Stream& stream) {
  Status status = check_legacy(stream);
  if (!status.ok() || !stream.capture) return status;
  return refuse(stream.runtime(), stream.capture.get(),
                unsupported(kStreamCaptureUnsupported,
                            "a graph cannot be launched on a stream that is being captured",
                            "Launch it on another stream, or add it as a child graph")
                    .on_stream(stream.display_name()),
                "CU26");
}

}  // namespace cuda_runtime::core
