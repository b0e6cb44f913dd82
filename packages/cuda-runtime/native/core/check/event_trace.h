// The trace of a backend that cannot time its operations itself: a pair of events around each
// operation, and traced copies of graphs. Times are relative to one base event, which is read
// together with the host's clock when the trace starts and again when it stops.
#pragma once

#include <vector>

#include "core/check/trace.h"
#include "core/graph/traced_copy.h"

namespace cuda_runtime::core {

/// Guarded by the runtime's mutex.
class EventTrace {
 public:
  bool is_on() const { return base_.get() != nullptr; }
  /// Records the base event on a stream of its own and waits for it, three times: tens of
  /// microseconds, 100 ms at most. `CRT_BUSY` if no answer came soon enough. Called without the
  /// mutex.
  static Status start(Runtime& runtime);
  /// Gives what is complete to the trace and forgets the rest. Called without the mutex.
  static Status stop(Runtime& runtime, TraceLosses& losses);
  /// Forgets everything.
  void clear();
  /// Visits the copies of graphs whose launches are still to be read.
  template <typename Visitor>
  void each_copy(Visitor visitor) const {
    for (const Replay& replay : replays_) visitor(*replay.copy);
  }

  /// The operation between two events.
  Ref<Ticket> enqueue(Stream& stream, Ref<Work> work);
  /// The launch between two events, or a traced copy of it, as the trace's mode says. `launched`
  /// stays false when all copies are under way.
  Status launch(Stream& stream, Exec& exec, bool& launched);

 private:
  struct Pair {
    Span span;
    Ref<Ticket> begin;
    Ref<Ticket> end;
  };
  struct Replay {
    Ref<TracedCopy> copy;
    uint64_t operation = 0;
    uint64_t number = 0;
  };
  struct Base {
    Ref<Ticket> ticket;
    int64_t ns = 0;
  };
  /// The event and the host's time of the attempt in which they lay closest together.
  static Status measure_base(Runtime& runtime, int64_t timeout_ms, Base& base);
  Status launch_copy(Stream& stream, Exec& exec, bool& launched);
  Status free_copy(Exec& exec, Ref<TracedCopy>& copy);
  static Ref<Ticket> timed_mark(Stream& stream);
  void expect(Stream& stream, Span span, Ref<Ticket> begin) noexcept;
  /// Adds the spans of what is complete.
  void collect(Runtime& runtime) noexcept;
  void collect_replay(Runtime& runtime, const Replay& replay);
  int64_t ns_of(Runtime& runtime, Ticket& ticket) const;

  Ref<Ticket> base_;
  int64_t base_ns_ = 0;
  std::vector<Pair> pairs_;
  std::vector<Replay> replays_;
  uint64_t skipped_launches_ = 0;
};

}  // namespace cuda_runtime::core
