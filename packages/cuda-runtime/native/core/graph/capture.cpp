#include "core/graph/capture.h"

#include <algorithm>

#include "core/runtime.h"
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
  std::vector<Ref<Stream>> participants = std::move(sequence.participants);
  for (const Ref<Stream>& stream : participants) {
    stream->capture = nullptr;
    stream->frontier.clear();
  }
}

/// The sequence is over and gives no graph. What its nodes use is released now, although an event that
/// was recorded in it may keep the sequence.
void discard(CaptureSequence& sequence) {
  const Ref<CaptureSequence> keep(&sequence);
  finish(sequence);
  sequence.graph = nullptr;
}

/// Nodes of the graph that the origin's frontier does not reach, by stream: name and last node.
std::string unjoined(const Graph& graph, const Frontier& frontier) {
  std::vector<bool> reached(graph.nodes().size());
  for (const GraphDependency& dependency : frontier) reached[dependency.node] = true;
  // Dependencies point to earlier nodes, so that one pass backwards visits all ancestors.
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (const GraphDependency& dependency : graph.nodes()[i].dependencies) {
      reached[dependency.node] = true;
    }
  }
  std::map<std::string, std::string> last;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
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
  return std::move(status).on_stream(stream.display_name()).in_capture(sequence.id);
}

}  // namespace

CaptureSequence::CaptureSequence(Stream& origin_stream, CaptureMode capture_mode)
    : id(next_sequence_id.fetch_add(1)),
      origin(&origin_stream),
      thread(std::this_thread::get_id()),
      mode(capture_mode),
      graph(make_ref<Graph>(Ref<Runtime>(&origin_stream.runtime()))) {
  graph->capture_id = id;
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
    if (known == stream.frontier.end()) stream.frontier.push_back(dependency);
  }
}

Status add_node(Stream& stream, Ref<Work> work) {
  CaptureSequence& sequence = *stream.capture;
  if (sequence.state != CaptureState::kActive) return invalidated(stream, sequence);
  GraphNode node;
  node.stream_name = stream.display_name();
  node.stream_id = stream.id();
  node.stream_priority = stream.priority();
  node.dependencies = stream.frontier;
  // A programmatic edge needs a kernel at both ends and no second predecessor (CP01–CP03).
  const bool programmatic =
      work->is_programmatic() && stream.frontier.size() == 1 &&
      sequence.graph->nodes()[stream.frontier[0].node].work->kind == WorkKind::kKernel;
  if (programmatic) node.dependencies[0].type = EdgeType::kProgrammatic;
  node.work = std::move(work);
  stream.frontier.reserve(1);  // so that nothing can fail once the node is there
  const uint32_t index = sequence.graph->add(std::move(node));
  stream.frontier.assign(1, GraphDependency{index, EdgeType::kFull});
  return {};
}

Status begin_capture(Stream& stream, int mode) {
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
  auto sequence = make_ref<CaptureSequence>(stream, static_cast<CaptureMode>(mode));
  stream.runtime().captures().push_back(sequence.get());
  try {
    join_capture(stream, *sequence, {});
  } catch (...) {
    stream.runtime().captures().pop_back();
    throw;
  }
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
  const std::string open = unjoined(*sequence->graph, stream.frontier);
  finish(*sequence);
  graph = std::move(sequence->graph);
  if (!open.empty()) {
    graph = nullptr;
    return Status::error("CRT_CAPTURE_UNJOINED", kStreamCaptureUnjoined,
                         "forked work was not joined: " + open,
                         "Let the origin wait for each fork after the fork's last operation")
        .on_stream(stream.display_name())
        .in_capture(sequence->id);
  }
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
