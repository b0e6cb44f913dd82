// Audits: every live record and what holds it, also while records come and go; counts of launches.
#include "core/check/audit/audit.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/exported_records.h"
#include "core/base/handle_table.h"
#include "core/base/hold_note.h"
#include "core/graph/build/builder.h"
#include "core/graph/update/change.h"
#include "fixture.h"
#include "gate.h"
#include "runner.h"

namespace crt_test {
namespace {

constexpr uint64_t kEnvironment = 1'000'001;

JsonValue audit_of(Fixture& f) {
  JsonValue json;
  std::string error;
  const std::string text = audit(*f.runtime, kEnvironment);
  check(parse_json(text, json, error), "an audit is JSON", __FILE__, __LINE__, error);
  return json;
}

const JsonValue* find_record(const JsonValue& records, const std::string& kind,
                             const std::string& label) {
  for (const JsonValue& record : records.items) {
    if (record["kind"].text() == kind && record["label"].text() == label) return &record;
  }
  return nullptr;
}

/// Who holds a record, in order: "handle", "graph#3", "work:copy@s#1", "export"; "?" when it is not
/// listed.
std::vector<std::string> holders_of(const JsonValue& records, const std::string& kind,
                                    const std::string& label) {
  const JsonValue* const record = find_record(records, kind, label);
  if (record == nullptr) return {"?"};
  std::vector<std::string> names;
  for (const JsonValue& holder : (*record)["holders"].items) {
    std::string name = holder["by"].text();
    if (name == "work") name += ":" + holder["operation"].text() + "@" + holder["stream"].text();
    if (name == "graph") name += ":" + holder["operation"].text();
    const auto count = static_cast<int>(holder["count"].number_or(0));
    if (count != 1) name += " x" + std::to_string(count);
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_holders(const JsonValue& records, const std::string& kind, const std::string& label,
                    std::vector<std::string> expected, int line) {
  const std::vector<std::string> found = holders_of(records, kind, label);
  std::sort(expected.begin(), expected.end());
  std::string text = kind + " " + label + " is held by";
  for (const std::string& name : found) text += " [" + name + "]";
  check(found == expected, "the holders are these", __FILE__, line, text);
}

/// A stream's last operation may let go of it an instant after its end is seen.
bool is_gone(Fixture& f, const std::string& kind, const std::string& label) {
  const int64_t end = now_ns() + 10'000'000'000;
  while (find_record(audit_of(f), kind, label) != nullptr) {
    if (now_ns() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

#define HOLDERS(records, kind, label, ...) \
  expect_holders(records, kind, label, __VA_ARGS__, __LINE__)

TEST("audit: handles, exports and notes hold, each until it ends (L1)") {
  Fixture f(options(""));
  Ref<Buffer> buffer = f.buffer(64, "weights");
  HandleTable& table = HandleTable::instance();
  const Handle own = table.add(buffer, kEnvironment);
  const Handle other = table.add(buffer, kEnvironment + 1, true);
  const std::string token = ExportedRecords::instance().add(buffer, kEnvironment);
  HoldNote note("file use", *buffer);
  JsonValue records = audit_of(f);
  HOLDERS(records, "buffer", "weights", {"handle", "handle", "export", "file use"});
  const JsonValue& record = *find_record(records, "buffer", "weights");
  CHECK(record["bytes"].number_or(0) == 64);
  CHECK(record["references"].number_or(0) == 4);  // one is this function's, the note is none
  for (const JsonValue& holder : record["holders"].items) {
    if (holder["by"].text() != "handle") continue;
    const bool is_own = holder["isOwn"].bool_or(false);
    CHECK(holder["isImported"].bool_or(false) == !is_own);
    CHECK(holder["handle"].number_or(0) == (is_own ? own : 0));  // others are not told
  }
  const HoldNote moved = std::move(note);
  OK(table.remove(other));
  OK(ExportedRecords::instance().remove(token));
  HOLDERS(audit_of(f), "buffer", "weights", {"handle", "file use"});
  OK(table.remove(own));
  buffer = nullptr;
  HOLDERS(audit_of(f), "buffer", "weights", {"?"});
}

TEST("audit: work in flight holds what it uses, and its stream (L5)") {
  Fixture f(options(""));
  const Ref<Stream> stream = f.stream("s");
  Ref<Buffer> y = f.buffer(64, "y");
  Ref<Buffer> x = f.buffer(64, "x");
  Gate gate;
  gate.hold(*stream);
  const std::string at = "@" + stream->display_name();
  OK(f.accumulate(*stream, y, 1, 1));
  OK(f.accumulate(*stream, y, 1, 1));
  OK(copy(*stream, {y, 0}, {x, 0}, 64));
  y = nullptr;
  x = nullptr;
  JsonValue records = audit_of(f);
  HOLDERS(records, "buffer", "y", {"work:test_accumulate" + at + " x2", "work:copy" + at});
  HOLDERS(records, "buffer", "x", {"work:copy" + at});
  HOLDERS(records, "kernel", "test_accumulate", {"work:test_accumulate" + at + " x2"});
  HOLDERS(records, "stream", stream->display_name(),
          {"work:gate" + at, "work:test_accumulate" + at + " x2", "work:copy" + at});
  CHECK(holders_of(records, "module", f.module->package()).size() == 1);
  gate.open();
  OK(stream->synchronize_blocking(-1));
  CHECK(is_gone(f, "buffer", "y") && is_gone(f, "buffer", "x"));
  HOLDERS(audit_of(f), "stream", stream->display_name(), {});
}

TEST("audit: graphs, executables, launches, captures and events hold (L7)") {
  Fixture f(options(""));
  const Ref<Stream> stream = f.stream("s");
  const std::string at = "@" + stream->display_name();
  Ref<Buffer> y = f.buffer(4, "y");
  const Ref<Event> event = f.event(true);
  OK(stream->begin_capture(1));
  OK(f.accumulate(*stream, y, 1, 1));
  OK(event->record(*stream, false));
  OK(fill(*stream, {y, 0}, 0, 4));
  y = nullptr;
  JsonValue records = audit_of(f);
  HOLDERS(records, "buffer", "y", {"graph:test_accumulate x2"});
  HOLDERS(records, "stream", stream->display_name(), {"capture"});
  const std::string capture =
      std::to_string(stream->capture->id) + " of " + stream->display_name();
  HOLDERS(records, "capture", capture, {"event", "stream"});
  const std::string graph_name = "captured#" + std::to_string(stream->capture->graph->id());
  HOLDERS(records, "graph", graph_name, {"capture"});

  Ref<Graph> graph;
  OK(stream->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  graph = nullptr;
  const std::string exec_name = "captured#" + std::to_string(exec->graph()->id());
  records = audit_of(f);
  HOLDERS(records, "capture", capture, {"?"});
  HOLDERS(records, "graph", graph_name, {"?"});
  HOLDERS(records, "graph", exec_name, {"graph executable"});
  HOLDERS(records, "buffer", "y", {"graph:test_accumulate x2"});

  Gate gate;
  gate.hold(*stream);
  OK(exec->launch(*stream));
  exec = nullptr;
  records = audit_of(f);
  HOLDERS(records, "graph executable", exec_name, {"work:graph" + at});
  HOLDERS(records, "graph", exec_name, {"graph executable", "work:graph" + at});
  gate.open();
  OK(stream->synchronize_blocking(-1));
  CHECK(is_gone(f, "graph executable", exec_name) && is_gone(f, "buffer", "y"));
}

TEST("audit: children, bodies and conditions are held by the graphs around them") {
  Fixture f(options(""));
  auto graph = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
  auto child = make_ref<Graph>(f.runtime, GraphOrigin::kExplicit);
  Ref<GraphCondition> condition;
  OK(create_condition(*graph, 0, condition));
  uint32_t node = 0;
  OK(add_child(*graph, *child, {}, node));
  std::vector<Ref<Graph>> bodies;
  OK(add_conditional(*graph, {condition, ConditionalType::kIf, 1}, {}, node, bodies));
  const std::string child_name =
      "explicit#" + std::to_string(graph->nodes()[0].work->child->id());
  const std::string body_name = "body#" + std::to_string(bodies[0]->id());
  bodies.clear();
  condition = nullptr;
  const JsonValue records = audit_of(f);
  HOLDERS(records, "graph", child_name, {"graph:child"});
  HOLDERS(records, "graph", body_name, {"graph:conditional"});
  // By its node, and by the graph that it belongs to.
  HOLDERS(records, "condition", "condition 0", {"graph:", "graph:conditional"});
}

// Threads that make, use and end records of every kind beside two that audit all the time. Under
// the thread sanitizer this finds whatever a look reads without its lock.
TEST("audit: records come and go while others look") {
  Fixture f(options(""));
  const Ref<Stream> kept = f.stream("kept");
  std::atomic<bool> is_over{false};
  std::atomic<int> looks{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!is_over.load()) {
        const JsonValue records = audit_of(f);
        if (find_record(records, "stream", kept->display_name()) != nullptr) ++looks;
      }
    });
  }
  std::vector<std::thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&, i] {
      const int64_t end = now_ns() + 3'000'000'000;
      for (int round = 0; round < 150 || (looks.load() < 20 && now_ns() < end); ++round) {
        const Ref<Stream> stream = f.stream("worker" + std::to_string(i));
        const Ref<Buffer> y = f.buffer(64, "y");
        const Ref<Event> event = f.event();
        OK(fill(*stream, {y, 0}, 0, 64));
        OK(event->record(*stream, false));
        OK(stream->begin_capture(1));
        OK(fill(*stream, {y, 0}, 1, 64));
        OK(copy(*stream, {y, 0}, {y, 32}, 32));
        Ref<Graph> graph;
        OK(stream->end_capture(graph));
        // Nodes are added without any lock but the graph's.
        uint32_t node = 0;
        for (int added = 0; added < 64; ++added) {
          OK(add_node(*graph, make_ref<Work>(WorkKind::kEmpty), {}, node));
        }
        OK(add_child(*graph, *make_ref<Graph>(f.runtime, GraphOrigin::kExplicit), {}, node));
        Ref<Exec> exec;
        OK(Exec::instantiate(graph, exec));
        Ref<Work> other;
        OK(make_fill(*f.runtime, {y, 0}, 2, 64, other));
        OK(exec->launch(*stream));
        OK(set_work(*exec, 0, other));
        const Handle handle = HandleTable::instance().add(exec, kEnvironment + 2);
        const HoldNote note("promise", *exec);
        OK(exec->launch(*stream));
        OK(HandleTable::instance().remove(handle));
        if (round % 3 == 0) OK(stream->synchronize_blocking(-1));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  is_over.store(true);
  for (std::thread& thread : threads) thread.join();
  CHECK(looks.load() >= 1);
  OK(synchronize_device(*f.runtime));
  std::string left = "?";
  const int64_t end = now_ns() + 10'000'000'000;
  while (!left.empty() && now_ns() < end) {
    left.clear();
    for (const JsonValue& record : audit_of(f).items) {
      const std::string kind = record["kind"].text();
      const bool is_kept = kind == "runtime" || kind == "module" || kind == "kernel" ||
                           record["label"].text() == kept->display_name();
      if (!is_kept) left += kind + " " + record["label"].text() + "; ";
    }
  }
  CHECK_WITH(left.empty(), left);
}

TEST("stats: launches are counted by kind, and their sum is `operations`") {
  Fixture f(options(""));
  const Ref<Stream> stream = f.stream("s");
  const Ref<Buffer> y = f.buffer(64);
  const auto count = [&](const char* kind) {
    JsonValue json;
    std::string error;
    CHECK(parse_json(f.runtime->statistics(), json, error));
    return static_cast<int>(kind[0] == '\0' ? json["operations"].number_or(-1)
                                            : json["launches"][kind].number_or(-1));
  };
  CHECK(count("") == 0 && count("kernel") == 0 && count("graph") == 0);
  for (int i = 0; i < 3; ++i) OK(f.accumulate(*stream, y, 1, 1));
  OK(fill(*stream, {y, 0}, 0, 64));
  OK(copy(*stream, {y, 0}, {y, 32}, 32));
  const uint8_t bytes[4] = {};
  OK(write(*stream, {y, 0}, bytes, 4));
  f.ints(*stream, y);
  Gate gate;
  gate.open();
  gate.hold(*stream);
  OK(stream->begin_capture(1));
  for (int i = 0; i < 5; ++i) OK(f.accumulate(*stream, y, 1, 1));
  Ref<Graph> graph;
  OK(stream->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  for (int i = 0; i < 2; ++i) OK(exec->launch(*stream));
  CHECK(!fill(*stream, {y, 0}, 0, 65).ok());  // refused: not submitted
  OK(stream->synchronize_blocking(-1));
  CHECK(count("kernel") == 3);
  CHECK(count("graph") == 2);
  for (const char* kind : {"fill", "copy", "write", "read", "host"}) CHECK(count(kind) == 1);
  CHECK(count("notify") == 0);
  CHECK(count("") == 3 + 2 + 5);
}

}  // namespace crt_test
