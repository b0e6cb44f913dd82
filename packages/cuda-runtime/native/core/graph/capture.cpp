#include "core/graph/capture.h"

#include <algorithm>

#include "core/graph/build/builder.h"
#include "core/runtime.h"
#include "core/stream/launch_events.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {
namespace {

std::atomic<uint64_t> next_sequence_id{1};

Status illegal_state(Stream& stream, std::string detail, std::string hint) {
  return Status::error("CRT_CAPTURE_STATE", kIllegalState, std::move(detail), std::move(hint))
      .on_stream(stream.display_name());
}

/// Every participant leaves capture mode and the sequence is over.
void finish(CaptureSequence& sequence) {
  const Ref<CaptureSequence> keep(&sequence);
  Runtime& runtime = sequence.origin->runtime();
  std::erase(runtime.captures(), &sequence);
  sequence.state = CaptureState::kEnded;
  sequence.graph->let_go();
  std::vector<Ref<Stream>> participants = std::move(sequence.participants);
  for (const Ref<Stream>& stream : participants) {
    stream->capture = nullptr;
    stream->frontier.clear();
  }
}

/// The graph of a sequence that failed goes, also when it was there before (CB21).
void drop_graph(CaptureSequence& sequence) {
  if (sequence.is_into && sequence.graph) sequence.graph->destroy();
  sequence.graph = nullptr;
}

/// The sequence is over and gives no graph. What its nodes use is released now, although an event
/// that was recorded in it may keep the sequence.
void discard(CaptureSequence& sequence) {
  const Ref<CaptureSequence> keep(&sequence);
  finish(sequence);
  drop_graph(sequence);
}

/// Nodes of the capture that neither the origin's frontier nor a replaced one reaches, by stream:
/// name and last node.
std::string unjoined(const CaptureSequence& sequence, const Frontier& frontier) {
  const Graph& graph = *sequence.graph;
  std::vector<bool> reached(graph.nodes().size());
  for (const GraphDependency& dependency : frontier) reached[dependency.node] = true;
  for (const GraphDependency& dependency : sequence.cut) reached[dependency.node] = true;
  // What a capture adds depends on earlier nodes, so that one pass backwards visits all ancestors.
  for (size_t i = graph.nodes().size(); i-- > sequence.first_node;) {
    if (!reached[i]) continue;
    for (const GraphDependency& dependency : graph.nodes()[i].dependencies) {
      reached[dependency.node] = true;
    }
  }
  std::map<std::string, std::string> last;
  for (size_t i = sequence.first_node; i < graph.nodes().size(); ++i) {
    if (!reached[i]) last[graph.nodes()[i].stream_name] = graph.nodes()[i].work->label();
  }
  std::string text;
  for (const auto& [stream, label] : last) {
    text += (text.empty() ? "" : ", ") + stream + " (last " + label + ")";
  }
  return text;
}

Status invalidated(Stream& stream, CaptureSequence& sequence) {
  const bool known = !sequence.first_error.ok();
  Status status = Status::error(
      "CRT_CAPTURE_INVALIDATED", kStreamCaptureInvalidated,
      known ? "the capture was broken earlier: " + sequence.first_error.fault().detail
            : "the capture was broken earlier",
      "Fix the first error and capture again");
  return std::move(status)
      .on_stream(stream.display_name())
      .in_capture(sequence.id)
      .caused_by(sequence.first_error);
}

/// Nodes of the graph as what the next node depends on.
Status read_frontier(const Graph& graph, const std::vector<uint32_t>& nodes, Frontier& frontier) {
  for (const uint32_t node : nodes) {
    if (node >= graph.nodes().size()) {
      return Status::argument("there is no node " + std::to_string(node) + " in the graph",
                              "Use nodes of the graph that is captured into");
    }
    if (std::any_of(frontier.begin(), frontier.end(),
                    [&](const GraphDependency& known) { return known.node == node; })) {
      return Status::argument("node " + std::to_string(node) + " is named twice", "Name it once");
    }
    frontier.push_back({node});
  }
  return {};
}

Status check_target(Stream& stream, const CaptureTarget& target, Frontier& frontier) {
  if (&target.graph->runtime() != &stream.runtime()) {
    return Status::error("CRT_BACKEND_MISMATCH", kInvalidResourceHandle,
                         "the graph belongs to another runtime than the stream", "Open one runtime");
  }
  Status status = target.graph->check_mutable();
  return status.ok() ? read_frontier(*target.graph, target.after, frontier) : std::move(status);
}

}  // namespace

CaptureSequence::CaptureSequence(Stream& origin_stream, CaptureMode capture_mode, Ref<Graph> into)
    : id(next_sequence_id.fetch_add(1)),
      origin(&origin_stream),
      thread(std::this_thread::get_id()),
      mode(capture_mode),
      graph(into ? into
                 : make_ref<Graph>(Ref<Runtime>(&origin_stream.runtime()), GraphOrigin::kCaptured)),
      is_into(into != nullptr),
      first_node(static_cast<uint32_t>(graph->nodes().size())) {
  if (!is_into) graph->capture_id = id;
  graph->hold();
}

void invalidate(CaptureSequence& sequence, const Status& why) {
  if (sequence.state != CaptureState::kActive) return;
  sequence.state = CaptureState::kInvalidated;
  sequence.first_error = why.copy();
}

void join_capture(Stream& stream, CaptureSequence& sequence, const Frontier& frontier) {
  Frontier copy = frontier;
  sequence.participants.push_back(Ref<Stream>(&stream));
  // Nothing that could fail comes after the first change that is seen.
  stream.capture = Ref<CaptureSequence>(&sequence);
  stream.frontier = std::move(copy);
}

void merge_frontier(Stream& stream, const Frontier& snapshot) {
  for (const GraphDependency& dependency : snapshot) {
    const auto known =
        std::find_if(stream.frontier.begin(), stream.frontier.end(),
                     [&](const GraphDependency& other) { return other.node == dependency.node; });
    if (known == stream.frontier.end()) {
      stream.frontier.push_back(dependency);
    } else if (dependency.port == EdgePort::kCompletion) {
      *known = dependency;  // waits for more than any other port
    }
  }
}

/// Only a kernel can wait for a trigger: elsewhere the order would be lost (CP05).
Status check_ports(Stream& stream, const Work& work) {
  if (work.kind == WorkKind::kKernel) return {};
  for (const GraphDependency& dependency : stream.frontier) {
    if (dependency.type != EdgeType::kProgrammatic) continue;
    return Status::argument("a " + work.label() +
                                " cannot wait for a programmatic event, it has nothing to wait with",
                            "Wait for the kernel with `waitStream`, or let a kernel follow")
        .on_stream(stream.display_name());
  }
  return {};
}

/// Whether a programmatic launch can follow all of them early: only kernels trigger, and what waits
/// for the start of one has its edge already (CP01–CP03, CP11, CP12).
bool are_kernels(const Graph& graph, const Frontier& dependencies) {
  return std::all_of(dependencies.begin(), dependencies.end(), [&](const GraphDependency& from) {
    return from.port != EdgePort::kLaunch && graph.nodes()[from.node].work->kind == WorkKind::kKernel;
  });
}

Status add_node(Stream& stream, Ref<Work> work) {
  CaptureSequence& sequence = *stream.capture;
  if (sequence.state != CaptureState::kActive) return invalidated(stream, sequence);
  Status status = check_work(*sequence.graph, *work);
  if (!status.ok()) return std::move(status).on_stream(stream.display_name());
  status = check_ports(stream, *work);
  if (!status.ok()) return status;
  GraphNode node;
  node.stream_name = stream.display_name();
  node.stream_id = stream.id();
  node.stream_priority = stream.priority();
  node.dependencies = stream.frontier;
  if (work->is_programmatic() && are_kernels(*sequence.graph, node.dependencies)) {
    for (GraphDependency& dependency : node.dependencies) {
      dependency.type = EdgeType::kProgrammatic;
      dependency.port = EdgePort::kProgrammatic;
    }
  }
  const std::unique_ptr<LaunchEvents> events = std::move(work->events);
  node.work = std::move(work);
  stream.frontier.reserve(1);  // so that nothing can fail once the node is there
  const uint32_t index = sequence.graph->add(std::move(node));
  stream.frontier.assign(1, GraphDependency{index, EdgeType::kFull});
  if (events != nullptr) capture_launch_events(stream, index, *events);
  return {};
}

Status begin_capture(Stream& stream, int mode, const CaptureTarget& target) {
  if (mode < 0 || mode > 2) {
    return Status::argument("`mode` is " + std::to_string(mode) + ", expected 0, 1 or 2",
                            "Use global, thread_local or relaxed");
  }
  if (stream.is_legacy()) {
    return Status::error("CRT_CAPTURE_UNSUPPORTED", kStreamCaptureUnsupported,
                         "the legacy stream cannot be captured", "Capture a stream of your own")
        .on_stream(stream.display_name());
  }
  if (stream.capture) {
    return illegal_state(stream, "the stream already takes part in a capture",
                         "End that capture first")
        .in_capture(stream.capture->id);
  }
  Status lost = stream.runtime().backend().device_loss().status();
  if (!lost.ok()) return std::move(lost).on_stream(stream.display_name());
  Frontier frontier;
  if (target.graph) {
    Status status = check_target(stream, target, frontier);
    if (!status.ok()) return status;
  }
  auto sequence =
      make_ref<CaptureSequence>(stream, static_cast<CaptureMode>(mode), target.graph);
  stream.runtime().captures().push_back(sequence.get());
  try {
    join_capture(stream, *sequence, frontier);
  } catch (...) {
    stream.runtime().captures().pop_back();
    sequence->graph->let_go();
    throw;
  }
  return {};
}

Status set_frontier(Stream& stream, const std::vector<uint32_t>& nodes, bool replace) {
  if (!stream.capture) {
    return illegal_state(stream, "the stream does not capture", "Begin a capture first");
  }
  CaptureSequence& sequence = *stream.capture;
  if (sequence.state != CaptureState::kActive) return invalidated(stream, sequence);
  Frontier frontier;
  Status status = read_frontier(*sequence.graph, nodes, frontier);
  if (!status.ok()) return status;
  if (!replace) {
    merge_frontier(stream, frontier);
    return {};
  }
  sequence.cut.insert(sequence.cut.end(), stream.frontier.begin(), stream.frontier.end());
  stream.frontier = std::move(frontier);
  return {};
}

Status end_capture(Stream& stream, Ref<Graph>& graph) {
  const Ref<CaptureSequence> sequence = stream.capture;
  if (!sequence) {
    return illegal_state(stream, "the stream does not capture", "Begin a capture first");
  }
  if (sequence->origin != &stream) {
    Status status = Status::error("CRT_CAPTURE_UNMATCHED", kStreamCaptureUnmatched,
                                  "the capture was begun on " + sequence->origin->display_name() +
                                      " and can only be ended there",
                                  "End it on its origin");
    invalidate(*sequence, status);
    return std::move(status).on_stream(stream.display_name()).in_capture(sequence->id);
  }
  if (sequence->thread != std::this_thread::get_id() && sequence->mode != CaptureMode::kRelaxed) {
    if (!stream.runtime().options().guards) discard(*sequence);
    return Status::error("CRT_WRONG_THREAD", kStreamCaptureWrongThread,
                         "the capture was begun on another thread",
                         "End it on the thread that began it, or begin it relaxed")
        .on_stream(stream.display_name())
        .in_capture(sequence->id);
  }
  if (sequence->state == CaptureState::kInvalidated) {
    Status status = invalidated(stream, *sequence);
    discard(*sequence);
    return status;
  }
  const std::string open = unjoined(*sequence, stream.frontier);
  finish(*sequence);
  if (!open.empty()) {
    drop_graph(*sequence);
    return Status::error("CRT_CAPTURE_UNJOINED", kStreamCaptureUnjoined,
                         "forked work was not joined: " + open,
                         "Let the origin wait for each fork after the fork's last operation")
        .on_stream(stream.display_name())
        .in_capture(sequence->id);
  }
  graph = std::move(sequence->graph);
  return {};
}

void abort_capture(Stream& stream) {
  if (stream.capture) discard(*stream.capture);
}

void leave_capture(Stream& stream) {
  const Ref<CaptureSequence> sequence = stream.capture;
  if (!sequence) return;
  if (sequence->origin == &stream) return discard(*sequence);
  stream.capture = nullptr;
  stream.frontier.clear();
  std::erase_if(sequence->participants,
                [&](const Ref<Stream>& other) { return other.get() == &stream; });
}

void abort_captures_of_thread(Runtime& runtime, std::thread::id thread) {
  const std::vector<CaptureSequence*> open = runtime.captures();
  for (CaptureSequence* sequence : open) {
    if (sequence->thread == thread) discard(*sequence);
  }
}

}  // namespace cuda_runtime::core
