#include "core/check/race_check.h"

#include <algorithm>

#include "core/check/access_history.h"
#include "core/graph/build/topology.h"
#include "core/graph/nodes/condition.h"
#include "core/graph/nodes/graph_buffer.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

// A loop that never synchronises could report the same race for ever.
constexpr size_t kMaxReports = 1000;

void join(VectorClock& into, const VectorClock& other) {
  for (const auto& [stream, position] : other) {
    uint64_t& known = into[stream];
    known = std::max(known, position);
  }
}

bool conflicts(uint8_t a, uint8_t b) { return ((a | b) & kWrite) != 0; }

/// Every access of a node; for a conditional node those of all bodies.
template <typename Visitor>
void each_access(const GraphNode& node, Visitor visitor) {
  for (const Access& access : node.work->accesses) visitor(access);
  if (node.work->kind != WorkKind::kConditional) return;
  for (const Ref<Graph>& body : node.work->conditional->bodies) {
    for (const GraphNode& inner : body->nodes()) each_access(inner, visitor);
  }
}

/// Whether the access is to memory of a graph that nobody has allocated now. Needs the runtime's
/// mutex. What has no handle any more belongs to the graphs that use it.
bool is_unallocated(const Access& access) {
  const GraphBuffer* const memory = access.buffer->as_graph_buffer();
  return memory != nullptr && !memory->is_allocated && memory->is_reachable;
}

bool allocates(const Graph& graph, const Buffer& buffer) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const GraphNode& node) {
    return node.work->kind == WorkKind::kAlloc && node.work->memory.get() == &buffer;
  });
}

}  // namespace

RaceCheck::Clock& RaceCheck::clock_of(Stream& stream) {
  if (stream.is_blocking()) blocking_.insert(stream.id());
  if (stream.is_legacy()) legacy_.insert(stream.id());
  return streams_[stream.id()];
}

RaceCheck::Clock& RaceCheck::advance(Stream& stream) {
  Clock& clock = clock_of(stream);
  join(clock, host_);
  // The legacy stream comes after the blocking streams, and they after it.
  if (stream.is_legacy()) {
    for (const uint64_t other : blocking_) join(clock, streams_[other]);
  }
  if (stream.is_blocking()) {
    for (const uint64_t other : legacy_) join(clock, streams_[other]);
  }
  ++clock[stream.id()];
  return clock;
}

void RaceCheck::submitted(Stream& stream, const Work& work, Ticket& ticket) {
  if (!enabled_) return;
  LockGuard lock(mutex_);
  const Clock& clock = advance(stream);
  const Submission submission{work.label() + "@" + stream.display_name(), work.origin};
  for (const Access& access : work.accesses) {
    if (is_unallocated(access)) {
      add_report(make_not_allocated(*access.buffer,
                                    {submission, access.mode, access.begin, access.end}));
    }
    check_access(access, submission, stream.id(), clock.at(stream.id()), clock);
  }
  ticket.clock = std::make_unique<Clock>(clock);
}

void RaceCheck::graph_starts(Stream& stream, const Graph& graph, const Ticket* previous) {
  if (!enabled_) return;
  if (previous != nullptr) waited(stream, *previous);
  for (const GraphNode& node : graph.nodes()) {
    if (node.work->kind != WorkKind::kEventWait) continue;
    const Ref<Ticket> ticket = node.work->event->ticket;
    if (ticket) waited(stream, *ticket);
  }
}

void RaceCheck::graph_submitted(Stream& stream, const Graph& graph, Ticket& ticket) {
  if (!enabled_) return;
  LockGuard lock(mutex_);
  const Clock& clock = advance(stream);
  for (const GraphNode& node : graph.nodes()) {
    // Of the launch: a node says in its own error where it was recorded.
    const Submission submission{node.work->label() + " in a graph@" + stream.display_name(),
                                current_origin()};
    if (!node.enabled) continue;
    each_access(node, [&](const Access& access) {
      if (is_unallocated(access) && !allocates(graph, *access.buffer)) {
        add_report(make_not_allocated(*access.buffer,
                                      {submission, access.mode, access.begin, access.end}));
      }
      check_access(access, submission, stream.id(), clock.at(stream.id()), clock);
    });
    // Whoever waits for an event that the graph records comes after the launch.
    if (node.work->kind == WorkKind::kEventRecord && node.work->event->ticket) {
      node.work->event->ticket->clock = std::make_unique<Clock>(clock);
    }
  }
  ticket.clock = std::make_unique<Clock>(clock);
}

void RaceCheck::marked(Stream& stream, Ticket& ticket) {
  if (!enabled_) return;
  LockGuard lock(mutex_);
  ticket.clock = std::make_unique<Clock>(advance(stream));
}

void RaceCheck::waited(Stream& stream, const Ticket& ticket) {
  if (!enabled_ || ticket.clock == nullptr) return;
  LockGuard lock(mutex_);
  join(clock_of(stream), *ticket.clock);
}

void RaceCheck::host_waited(const Ticket& ticket) {
  if (!enabled_ || ticket.clock == nullptr) return;
  LockGuard lock(mutex_);
  join(host_, *ticket.clock);
}

void RaceCheck::host_saw_idle(Stream& stream) {
  if (!enabled_) return;
  LockGuard lock(mutex_);
  join(host_, clock_of(stream));
}

void RaceCheck::check_access(const Access& access, const Submission& submission, uint64_t stream,
                             uint64_t position, const Clock& clock) {
  if (access.begin >= access.end) return;
  Buffer& buffer = *access.buffer;
  if (buffer.history == nullptr) buffer.history = std::make_unique<AccessHistory>();
  std::vector<PastAccess>& past = buffer.history->accesses;
  const auto is_ordered = [&](const PastAccess& other) {
    if (other.stream == stream) return true;
    const auto known = clock.find(other.stream);
    return known != clock.end() && known->second >= other.position;
  };
  for (const PastAccess& other : past) {
    const bool overlaps = other.begin < access.end && access.begin < other.end;
    if (!overlaps || !conflicts(other.mode, access.mode) || is_ordered(other)) continue;
    const Submission before{other.name, other.origin};
    add_report(make_race(buffer, {before, other.mode, other.begin, other.end},
                         {submission, access.mode, access.begin, access.end}));
  }
  // What an ordered access covers need not be kept: whoever conflicts with it conflicts with this
  // one too, if this one writes or the older one only read in the same stream.
  std::erase_if(past, [&](const PastAccess& other) {
    const bool covered = access.begin <= other.begin && other.end <= access.end;
    const bool replaces = (access.mode & kWrite) != 0 ||
                          (other.stream == stream && (other.mode & kWrite) == 0);
    return covered && replaces && is_ordered(other);
  });
  past.push_back({access.begin, access.end, access.mode, stream, position, submission.name,
                  submission.origin});
}

void RaceCheck::check_nodes(const std::vector<GraphNode>& nodes, const NodeAccess& earlier,
                            const NodeAccess& later, bool ordered) {
  const WorkKind first = nodes[earlier.node].work->kind;
  const WorkKind second = nodes[later.node].work->kind;
  const auto name = [&](size_t n) {
    const std::string& stream = nodes[n].stream_name;
    return Submission{nodes[n].work->label() + (stream.empty() ? "" : "@" + stream) + " (node " +
                          std::to_string(n) + ")",
                      nodes[n].work->origin};
  };
  const auto touch = [](const Submission& by, const Access& access) {
    return Touch{by, access.mode, access.begin, access.end};
  };
  const Buffer& buffer = *later.access.buffer;
  if (!ordered) {
    if (!conflicts(earlier.access.mode, later.access.mode)) return;
    const Submission before = name(earlier.node);
    const Submission after = name(later.node);
    report(make_race(buffer, touch(before, earlier.access), touch(after, later.access)));
  } else if (first == WorkKind::kFree) {
    const Submission user = name(later.node);
    report(make_outside_life(buffer, touch(user, later.access), true, name(earlier.node)));
  } else if (second == WorkKind::kAlloc) {
    const Submission user = name(earlier.node);
    report(make_outside_life(buffer, touch(user, earlier.access), false, name(later.node)));
  }
}

void RaceCheck::check_graph(const Graph& graph) {
  if (!enabled_) return;
  const std::vector<GraphNode>& nodes = graph.nodes();
  const size_t words = (nodes.size() + 63) / 64;
  // For each node, those that are over before its accesses, and of them those that are over before
  // it starts: what a programmatic edge leads from may still run then.
  std::vector<uint64_t> ancestors(nodes.size() * words);
  std::vector<uint64_t> over_at_start(nodes.size() * words);
  // Per buffer, the earlier nodes that touch it.
  std::map<const Buffer*, std::vector<std::pair<size_t, const Access*>>> touched;
  for (const uint32_t i : topological_order(nodes)) {
    if (nodes[i].work->kind == WorkKind::kConditional) {
      for (const Ref<Graph>& body : nodes[i].work->conditional->bodies) check_graph(*body);
    }
    uint64_t* own = &ancestors[i * words];
    uint64_t* own_start = &over_at_start[i * words];
    for (const GraphDependency& dependency : nodes[i].dependencies) {
      const uint64_t* before = &ancestors[dependency.node * words];
      const uint64_t* before_start = &over_at_start[dependency.node * words];
      const bool is_full = dependency.port == EdgePort::kCompletion;
      const uint64_t bit = uint64_t{1} << (dependency.node % 64);
      for (size_t w = 0; w < words; ++w) own_start[w] |= is_full ? before[w] : before_start[w];
      if (is_full) own_start[dependency.node / 64] |= bit;
      if (dependency.port == EdgePort::kLaunch) continue;  // orders starts, not what it writes
      for (size_t w = 0; w < words; ++w) own[w] |= before[w];
      own[dependency.node / 64] |= bit;
    }
    for (size_t w = 0; w < words; ++w) own[w] |= own_start[w];
    each_access(nodes[i], [&](const Access& access) {
      auto& others = touched[access.buffer.get()];
      for (const auto& [j, other] : others) {
        const bool overlaps = other->begin < access.end && access.begin < other->end;
        if (!overlaps || j == i) continue;
        const bool ordered = ((own[j / 64] >> (j % 64)) & 1) != 0;
        check_nodes(nodes, {j, *other}, {i, access}, ordered);
      }
      others.emplace_back(i, &access);
    });
  }
}

// The caller holds the mutex.
void RaceCheck::add_report(RaceReport race) {
  if (found_.size() < kMaxReports) found_.push_back(std::move(race));
}

std::string RaceCheck::take() {
  std::vector<RaceReport> races;
  {
    LockGuard lock(mutex_);
    races.swap(found_);
  }
  return to_json(races);
}

}  // namespace cuda_runtime::core
