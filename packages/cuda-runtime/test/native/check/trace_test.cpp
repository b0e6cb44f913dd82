// Traces: times by events, traced copies of graphs, what is lost.
#include <chrono>
#include <thread>

#include "core/graph/traced_copy.h"
#include "fixture.h"
#include "gate.h"
#include "runner.h"

namespace crt_test {
namespace {

/// A diamond on two streams: 0 → (1 main, 2 alt) → 3.
Ref<Graph> diamond(Fixture& fixture, Stream& main, Stream& alt, const Ref<Buffer>& y) {
  OK(main.begin_capture(1));
  OK(fixture.accumulate(main, y, 1, 1));
  OK(alt.wait_stream(main));
  OK(fixture.spin(main, 3000));
  OK(fixture.spin(alt, 3000));
  OK(main.wait_stream(alt));
  OK(fixture.accumulate(main, y, 2, 0));
  Ref<Graph> graph;
  OK(main.end_capture(graph));
  return graph;
}

struct Recorded {
  JsonValue json;
  std::vector<const JsonValue*> named(const std::string& name) const {
    std::vector<const JsonValue*> found;
    for (const JsonValue& span : json["spans"].items) {
      if (span["name"].text() == name) found.push_back(&span);
    }
    return found;
  }
};

Recorded stop(Runtime& runtime) {
  std::string text;
  OK(runtime.stop_trace(text));
  Recorded recorded;
  std::string error;
  CHECK_WITH(parse_json(text, recorded.json, error), error);
  return recorded;
}

double length_ms(const JsonValue& span) {
  return (span["endNs"].number_or(0) - span["startNs"].number_or(0)) / 1e6;
}

}  // namespace

TEST("a traced copy has an event before and behind each node, and full edges") {
  Fixture fixture(options(""));
  const Ref<Stream> main = fixture.stream("main");
  const Ref<Stream> alt = fixture.stream("alt");
  const Ref<Buffer> y = fixture.buffer(4, "y");
  OK(fixture.fill(*main, y, 0));
  const Ref<Graph> graph = diamond(fixture, *main, *alt, y);
  CHECK(graph->nodes().size() == 4);
  std::vector<TimedNode> timed;
  const Ref<Graph> copy = insert_timing(*graph, timed);
  CHECK(copy->nodes().size() == 12);
  CHECK(timed.size() == 4);
  CHECK(copy->capture_id == graph->capture_id);
  CHECK(copy->id() != graph->id());
  size_t edges = 0;
  for (size_t i = 0; i < copy->nodes().size(); ++i) {
    const GraphNode& node = copy->nodes()[i];
    edges += node.dependencies.size();
    const bool is_record = node.work->kind == WorkKind::kEventRecord;
    CHECK(is_record == (i % 3 != 1));
    for (const GraphDependency& dependency : node.dependencies) {
      CHECK(dependency.node < i);
      CHECK(dependency.type == EdgeType::kFull);
    }
  }
  // Two inside each node, one for each edge of the source.
  CHECK(edges == 8 + 4);
  // The alt branch starts behind the end record of the first node, not behind the node itself.
  CHECK(copy->nodes()[6].dependencies.at(0).node == 2);
}

TEST("replays by traced copies give the same results and a span for each node") {
  Fixture fixture(options(""));
  const Ref<Stream> main = fixture.stream("main");
  const Ref<Stream> alt = fixture.stream("alt");
  const Ref<Buffer> y = fixture.buffer(4, "y");
  OK(fixture.fill(*main, y, 0));
  const Ref<Graph> graph = diamond(fixture, *main, *alt, y);
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  OK(exec->launch(*main));  // y = 2
  OK(fixture.runtime->start_trace(TraceMode::kGraph, true));
  OK(exec->launch(*main));  // y = 6
  OK(exec->launch(*main));  // y = 14
  OK(main->synchronize_blocking(-1));
  const Recorded recorded = stop(*fixture.runtime);
  OK(exec->launch(*main));  // y = 30, the production executable again
  CHECK(fixture.ints(*main, y)[0] == 30);
  CHECK(exec->launches() == 4);
  CHECK(recorded.json["spans"].items.size() == 8);
  CHECK(recorded.json["runningAtStop"].number_or(-1) == 0);
  const auto spins = recorded.named("test_spin");
  CHECK(spins.size() == 4);
  for (const JsonValue* span : spins) {
    CHECK(length_ms(*span) >= 2.9);
    const double replay = (*span)["replay"].number_or(0);
    CHECK(replay == 2 || replay == 3);
    CHECK((*span)["captureId"].number_or(0) == static_cast<double>(graph->capture_id));
  }
  CHECK(exec->traced_copies.size() == 2);
}

TEST("more launches under way than copies run untraced, and are counted") {
  Fixture fixture(options(""));
  const Ref<Stream> main = fixture.stream("main");
  OK(main->begin_capture(1));
  OK(fixture.spin(*main, 2000));
  Ref<Graph> graph;
  OK(main->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  OK(fixture.runtime->start_trace(TraceMode::kGraph, true));
  Gate gate;
  gate.hold(*main);
  for (int i = 0; i < 10; ++i) OK(exec->launch(*main));
  gate.open();
  OK(main->synchronize_blocking(-1));
  const Recorded recorded = stop(*fixture.runtime);
  CHECK(recorded.json["untracedLaunches"].number_or(-1) == 2);
  CHECK(recorded.named("test_spin").size() == 8);
  CHECK(exec->launches() == 10);
}

TEST("what runs at the stop is counted, what ran before the start is not in the trace") {
  Fixture fixture(options(""));
  const Ref<Stream> main = fixture.stream("main");
  for (const bool by_events : {false, true}) {
    Gate before;
    before.hold(*main);
    OK(fixture.runtime->start_trace(TraceMode::kOperations, by_events));
    OK(fixture.empty(*main));
    before.open();
    OK(main->synchronize_blocking(-1));
    Gate at_stop;
    at_stop.hold(*main);
    const Recorded recorded = stop(*fixture.runtime);
    at_stop.open();
    CHECK(recorded.json["spans"].items.size() == 1);
    CHECK(recorded.named("test_empty").size() == 1);
    CHECK(recorded.json["runningAtStop"].number_or(-1) == 1);
    OK(main->synchronize_blocking(-1));
  }
}

TEST("a trace that nobody stops keeps nothing alive once the last handle is gone") {
  int64_t graphs = -1;
  {
    // Options of its own: the runtime of the test before may end an instant later, and is shared
    // till then.
    Fixture fixture(options("\"seed\":4711"));
    const Ref<Stream> main = fixture.stream("main");
    OK(main->begin_capture(1));
    OK(fixture.spin(*main, 1000));
    Ref<Graph> graph;
    OK(main->end_capture(graph));
    Ref<Exec> exec;
    OK(Exec::instantiate(graph, exec));
    OK(fixture.runtime->start_trace(TraceMode::kGraph, true));
    OK(exec->launch(*main));
    OK(main->synchronize_blocking(-1));
    graph = nullptr;
    exec = nullptr;
    CHECK(fixture.runtime->live().count(Kind::kGraph) > 0);
    fixture.runtime->on_handle_released();
    // The launch is released on the thread that ran it, an instant after it is over.
    for (int i = 0; i < 2000 && fixture.runtime->live().count(Kind::kGraph) > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    graphs = fixture.runtime->live().count(Kind::kGraph);
    CHECK(!fixture.runtime->trace().is_on());
  }
  CHECK(graphs == 0);
}

}  // namespace crt_test
