// Stream capture: the state machine of cuda-runtime.md 3.1–3.2, shared by all backends. On the
// CPU it is the truth; on CUDA it mirrors the driver's state for guards and messages.
#pragma once

#include <thread>
#include <vector>

#include "core/graph/graph.h"

namespace cuda_runtime::core {

class Stream;
class Event;

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum class CaptureState : uint8_t { kActive, kInvalidated, kEnded };

using Frontier = std::vector<GraphDependency>;

/// One capture: from begin to end.
class CaptureSequence : public RefCounted {
 public:
  CaptureSequence(Stream& origin, CaptureMode mode, Ref<Graph> into);

  const uint64_t id;  // unique in the process, never reused
  const uint64_t record_id = next_record_id();  // what audits call it
  Stream* const origin;
  const std::thread::id thread;
  const CaptureMode mode;
  CaptureState state = CaptureState::kActive;
  Ref<Graph> graph;
  const bool is_into;         // the graph was there before, and is gone if the capture fails (CB21)
  const uint32_t first_node;  // the first that this capture adds
  Frontier cut;               // replaced dependency sets: need not be joined (CB23)
  std::vector<Ref<Stream>> participants;
  Status first_error;  // what broke it, if the core saw it
};

// All functions need the runtime's mutex.

/// Marks a sequence as broken; the first error is kept for the end.
void invalidate(CaptureSequence& sequence, const Status& why);
/// The stream becomes a participant with this frontier.
void join_capture(Stream& stream, CaptureSequence& sequence, const Frontier& frontier);
/// Adds a snapshot to a participant's frontier.
void merge_frontier(Stream& stream, const Frontier& snapshot);
/// The operation becomes a node after the stream's frontier.
Status add_node(Stream& stream, Ref<Work> work);

/// Where a capture puts its nodes: into a graph of its own, or behind nodes of one that is there.
struct CaptureTarget {
  Ref<Graph> graph;             // null: a new one
  std::vector<uint32_t> after;  // what the first nodes depend on
};

Status begin_capture(Stream& stream, int mode, const CaptureTarget& target = {});
/// The next node of the stream depends on these instead of what was there, or besides (CB22–CB24).
Status set_frontier(Stream& stream, const std::vector<uint32_t>& nodes, bool replace);
Status end_capture(Stream& stream, Ref<Graph>& graph);
/// Ends and discards; nothing happens when the stream does not capture.
void abort_capture(Stream& stream);
/// The stream's handle goes away: an origin ends its capture, a fork leaves it (CB17–CB19).
void leave_capture(Stream& stream);
/// Aborts what a thread that ends has begun (T4).
void abort_captures_of_thread(Runtime& runtime, std::thread::id thread);

}  // namespace cuda_runtime::core
