// A point in a stream that others wait for: unrecorded, recorded (holds a ticket), captured (holds
// a sequence and a snapshot of the frontier) or stale (captured in a sequence that is over).
#pragma once

#include "core/graph/capture.h"
#include "core/stream/completion_sink.h"
#include "core/ticket.h"

namespace cuda_runtime::core {

/// The numbers of `eventState`.
enum class EventState : int { kUnrecorded, kPending, kComplete, kCaptured, kStale };

class Event : public Record {
 public:
  static constexpr Kind kKind = Kind::kEvent;

  Event(Ref<Runtime> runtime, bool timing);
  ~Event() override;

  Runtime& runtime() const { return *runtime_; }
  bool has_timing() const { return timing_; }

  Status record(Stream& stream, bool external);
  /// The stream's later work waits for what the event holds now.
  Status wait(Stream& stream, bool external);
  EventState state();
  Status query(bool& complete);
  /// Posts the token when what the event holds now is complete.
  Status done(Ref<CompletionSink> sink, int64_t token);
  Status wait_blocking();
  static Status elapsed_ms(Event& start, Event& end, double& milliseconds);

  // Guarded by the runtime's mutex.
  Ref<Ticket> ticket;
  Ref<CaptureSequence> sequence;
  Frontier snapshot;
  std::vector<uint64_t> trace_sources;  // what it is ordered behind, in the trace

 private:
  Status record_external(Stream& stream);
  Status wait_external(Stream& stream);
  Status check_runtime(Stream& stream) const;

  const Ref<Runtime> runtime_;
  const bool timing_;
};

}  // namespace cuda_runtime::core
