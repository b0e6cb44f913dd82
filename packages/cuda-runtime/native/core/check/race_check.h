// Happens-before checker: finds two accesses to the same bytes of which one writes and that nothing
// orders, and accesses to memory of a graph while it is not allocated, whether or not the timing
// shows it. Eager work is checked by vector clocks at submission, graphs by reachability at
// instantiation, without running them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/check/race_report.h"
#include "core/ticket.h"
#include "core/work.h"

namespace cuda_runtime::core {

class Graph;
class Stream;
struct GraphNode;

class RaceCheck {
 public:
  explicit RaceCheck(bool enabled) : enabled_(enabled) {}
  bool is_enabled() const { return enabled_; }

  /// An operation enters the stream: checks its accesses and gives its position to `ticket`.
  void submitted(Stream& stream, const Work& work, Ticket& ticket);
  /// A graph is about to be launched: it comes after the executable's previous launch and after
  /// what its external waits wait for.
  void graph_starts(Stream& stream, const Graph& graph, const Ticket* previous);
  /// The launch of the graph enters the stream: all its nodes' accesses at once.
  void graph_submitted(Stream& stream, const Graph& graph, Ticket& ticket);
  /// A point without work.
  void marked(Stream& stream, Ticket& ticket);
  /// The stream waits for the ticket.
  void waited(Stream& stream, const Ticket& ticket);
  /// The host waited for the ticket: everything submitted from now on comes after it.
  void host_waited(const Ticket& ticket);
  /// The host saw that the stream is idle.
  void host_saw_idle(Stream& stream);
  /// Compares all pairs of nodes that touch a common buffer: those that no path orders, and what
  /// comes before the memory's allocation or behind its free.
  void check_graph(const Graph& graph);

  void report(RaceReport race) {
    LockGuard lock(mutex_);
    add_report(std::move(race));
  }
  /// JSON array of the races found since the last call.
  std::string take();

 private:
  using Clock = VectorClock;
  Clock& clock_of(Stream& stream);
  Clock& advance(Stream& stream);
  void add_report(RaceReport race);
  struct NodeAccess {
    size_t node;
    const Access& access;
  };
  /// Two nodes that touch some of the same bytes, the one that may come first first.
  void check_nodes(const std::vector<GraphNode>& nodes, const NodeAccess& earlier,
                   const NodeAccess& later, bool ordered);
  void check_access(const Access& access, const Submission& submission, uint64_t stream,
                    uint64_t position, const Clock& clock);

  const bool enabled_;
  Mutex mutex_;
  Clock host_;
  std::map<uint64_t, Clock> streams_;
  std::set<uint64_t> blocking_;  // ids of the streams that the legacy stream is ordered with
  std::set<uint64_t> legacy_;
  std::vector<RaceReport> found_;
};

}  // namespace cuda_runtime::core
