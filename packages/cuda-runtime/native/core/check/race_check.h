// Happens-before checker: finds two accesses to the same bytes of which one writes and that nothing
// orders, whether or not the timing shows it. Eager work is checked by vector clocks at submission,
// graphs by reachability at instantiation, without running them.
#pragma once

#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/ticket.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Graph;
class Stream;

struct RaceReport {
  std::string kind;  // "race", or "red-zone" for a write outside a buffer
  std::string first;
  std::string second;
  std::string buffer;
  std::string message;
};

class RaceCheck {
 public:
  explicit RaceCheck(bool enabled) : enabled_(enabled) {}
  bool is_enabled() const { return enabled_; }

  /// An operation enters the stream: checks its accesses and gives its position to `ticket`.
  void submitted(Stream& stream, const Work& work, Ticket& ticket);
  /// A launch of a graph enters the stream: all its nodes' accesses at once.
  void graph_submitted(Stream& stream, const Graph& graph, Ticket& ticket);
  /// A point without work.
  void marked(Stream& stream, Ticket& ticket);
  /// The stream waits for the ticket.
  void waited(Stream& stream, const Ticket& ticket);
  /// The host waited for the ticket: everything submitted from now on comes after it.
  void host_waited(const Ticket& ticket);
  /// Compares all pairs of nodes that touch a common buffer and that no path orders.
  void check_graph(const Graph& graph);

  void report(RaceReport race) {
    LockGuard lock(mutex_);
    add_report(std::move(race));
  }
  /// JSON array of the races found since the last call.
  std::string take();

 private:
  using Clock = VectorClock;
  Clock& advance(Stream& stream);
  void add_report(RaceReport race);
  void check_access(const Access& access, const std::string& name, uint64_t stream,
                    uint64_t position, const Clock& clock);

  const bool enabled_;
  Mutex mutex_;
  Clock host_;
  std::map<uint64_t, Clock> streams_;
  std::vector<RaceReport> found_;
};

}  // namespace cuda_runtime::core
