// Random race-free programs give the same bytes under every schedule, eager or captured, as one
// thread that runs them in the order of submission; and the race checker accepts exactly them.
#include <algorithm>
#include <cmath>
#include <random>

#include "fixture.h"
#include "runner.h"

namespace crt_test {
namespace {

constexpr int kStreams = 4;
constexpr int kBuffers = 6;
constexpr int kInts = 16;
constexpr int kSteps = 50;

struct Step {
  enum Kind { kFill, kAccumulate, kCopy, kWait } kind = kFill;
  int stream = 0;
  int buffer = 0;
  int other = 0;  // kCopy: source buffer; kWait: the stream waited for
  int32_t factor = 1;
  int32_t x = 0;
  bool by_event = false;
};

/// Who touched a buffer last, and what each stream is known to come after.
struct Orders {
  // clock[s][t]: how many steps of stream t come before the next step of stream s.
  int clock[kStreams][kStreams] = {};
  int write_stream[kBuffers];
  int write_position[kBuffers];
  int read_position[kBuffers][kStreams];

  Orders() {
    std::fill_n(write_stream, kBuffers, -1);
    std::fill_n(write_position, kBuffers, 0);
    std::fill_n(&read_position[0][0], kBuffers * kStreams, 0);
  }
  bool sees(int stream, int other, int position) const {
    return stream == other || clock[stream][other] >= position;
  }
  void wait(int stream, int other) {
    for (int t = 0; t < kStreams; ++t) {
      clock[stream][t] = std::max(clock[stream][t], clock[other][t]);
    }
  }
};

class Generator {
 public:
  Generator(uint64_t seed, int steps) : random_(seed) {
    // Everything forks from stream 0, so that the program can be captured.
    for (int s = 1; s < kStreams; ++s) add_wait(s, 0);
    for (int i = 0; i < steps; ++i) add_step();
    for (int s = 1; s < kStreams; ++s) add_wait(0, s);
  }
  std::vector<Step> steps;
  std::vector<size_t> needed_waits;  // leaving one of these out makes a race

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }

  void add_wait(int stream, int other) {
    Step step;
    step.kind = Step::kWait;
    step.stream = stream;
    step.other = other;
    step.by_event = pick(2) == 0;
    steps.push_back(step);
    orders_.wait(stream, other);
  }
  void need(int stream, int other, int position) {
    if (position == 0 || orders_.sees(stream, other, position)) return;
    // Only a wait after which its step comes at once is surely needed.
    needed_waits.push_back(steps.size());
    add_wait(stream, other);
  }
  void touch(int stream, int buffer, bool writes) {
    if (orders_.write_stream[buffer] >= 0) {
      need(stream, orders_.write_stream[buffer], orders_.write_position[buffer]);
    }
    for (int s = 0; writes && s < kStreams; ++s) need(stream, s, orders_.read_position[buffer][s]);
  }
  void add_step() {
    Step step;
    step.stream = pick(kStreams);
    step.buffer = pick(kBuffers);
    step.kind = static_cast<Step::Kind>(pick(3));
    step.other = (step.buffer + 1 + pick(kBuffers - 1)) % kBuffers;
    step.factor = 3 + 2 * pick(50);
    step.x = pick(1000);
    const size_t first_wait = needed_waits.size();
    touch(step.stream, step.buffer, true);
    if (step.kind == Step::kCopy) touch(step.stream, step.other, false);
    // With several waits for one step, one of them may imply another.
    if (needed_waits.size() > first_wait + 1) needed_waits.resize(first_wait);
    const int position = ++orders_.clock[step.stream][step.stream];
    orders_.write_stream[step.buffer] = step.stream;
    orders_.write_position[step.buffer] = position;
    std::fill_n(orders_.read_position[step.buffer], kStreams, 0);
    if (step.kind == Step::kCopy) orders_.read_position[step.other][step.stream] = position;
    steps.push_back(step);
  }

  std::mt19937_64 random_;
  Orders orders_;
};

using Memory = std::vector<std::vector<int32_t>>;

void run_model(const std::vector<Step>& steps, Memory& memory) {
  for (const Step& step : steps) {
    if (step.kind == Step::kWait) continue;
    for (int i = 0; i < kInts; ++i) {
      int32_t& y = memory[step.buffer][i];
      if (step.kind == Step::kFill) y = step.x;
      if (step.kind == Step::kCopy) y = memory[step.other][i];
      if (step.kind == Step::kAccumulate) {
        y = static_cast<int32_t>(static_cast<uint32_t>(y) * static_cast<uint32_t>(step.factor) +
                                 static_cast<uint32_t>(step.x));
      }
    }
  }
}

/// The program on a runtime.
class Machine {
 public:
  explicit Machine(const std::string& options_json) : fixture(options_json) {
    for (int s = 0; s < kStreams; ++s) streams.push_back(fixture.stream("s" + std::to_string(s)));
    for (int b = 0; b < kBuffers; ++b) {
      buffers.push_back(fixture.buffer(kInts * 4, "b" + std::to_string(b)));
      OK(fixture.fill(*streams[0], buffers[b], b));
    }
    OK(streams[0]->synchronize_blocking(-1));
  }

  void submit(const std::vector<Step>& steps, size_t left_out = SIZE_MAX) {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (i != left_out) submit(steps[i]);
    }
  }
  Memory content() {
    Memory memory;
    for (const Ref<Buffer>& buffer : buffers) memory.push_back(fixture.ints(*streams[0], buffer));
    return memory;
  }

  Fixture fixture;
  std::vector<Ref<Stream>> streams;
  std::vector<Ref<Buffer>> buffers;

 private:
  void submit(const Step& step) {
    Stream& stream = *streams[step.stream];
    const Ref<Buffer>& buffer = buffers[step.buffer];
    switch (step.kind) {
      case Step::kFill:
        return OK(fixture.fill(stream, buffer, step.x));
      case Step::kAccumulate:
        return OK(fixture.accumulate(stream, buffer, step.factor, step.x));
      case Step::kCopy:
        return OK(copy(stream, {buffer, 0}, {buffers[step.other], 0}, kInts * 4));
      case Step::kWait:
        if (!step.by_event) return OK(stream.wait_stream(*streams[step.other]));
        const Ref<Event> event = fixture.event();
        OK(event->record(*streams[step.other], false));
        OK(event->wait(stream, false));
    }
  }
};

Memory initial() {
  Memory memory;
  for (int b = 0; b < kBuffers; ++b) memory.emplace_back(kInts, b);
  return memory;
}

Ref<Exec> capture(Machine& machine, const std::vector<Step>& steps) {
  OK(machine.streams[0]->begin_capture(1));
  machine.submit(steps);
  Ref<Graph> graph;
  OK(machine.streams[0]->end_capture(graph));
  Ref<Exec> exec;
  OK(Exec::instantiate(graph, exec));
  return exec;
}

void run_program(uint64_t seed, const std::string& schedule) {
  const Generator program(seed, kSteps);
  const std::string name = "seed " + std::to_string(seed) + " schedule " + schedule;
  Machine machine(options(std::string("\"poison\":true,\"raceCheck\":true,\"reuse\":\"immediate\",") +
                          (seed % 4 == 0 ? "\"protect\":true," : "") + "\"schedule\":\"" + schedule +
                          "\",\"seed\":" + std::to_string(seed)));
  Memory expected = initial();
  machine.submit(program.steps);
  run_model(program.steps, expected);
  CHECK_WITH(machine.content() == expected, name + " eager");
  // Twice at once from two streams: launches of one executable do not overlap.
  const Ref<Exec> exec = capture(machine, program.steps);
  OK(exec->launch(*machine.streams[0]));
  OK(machine.streams[1]->wait_stream(*machine.streams[0]));
  OK(exec->launch(*machine.streams[1]));
  OK(machine.streams[0]->wait_stream(*machine.streams[1]));
  run_model(program.steps, expected);
  run_model(program.steps, expected);
  CHECK_WITH(machine.content() == expected, name + " replayed");
  const std::string races = machine.fixture.runtime->races().take();
  CHECK_WITH(races == "[]", name + " races " + races);
}

// What a program takes on the virtual clock, in microseconds: each step comes after the earlier
// ones of its stream and of the streams that it waited for.
constexpr int kCosts[] = {3, 5, 2};  // by Step::Kind

int longest_path(const std::vector<Step>& steps) {
  int end[kStreams] = {};
  for (const Step& step : steps) {
    if (step.kind == Step::kWait) {
      end[step.stream] = std::max(end[step.stream], end[step.other]);
    } else {
      end[step.stream] += kCosts[step.kind];
    }
  }
  return end[0];
}

void time_program(uint64_t seed, const std::string& schedule) {
  const Generator program(seed, kSteps);
  Machine machine(options("\"clock\":\"virtual\",\"schedule\":\"" + schedule + "\",\"seed\":" +
                          std::to_string(seed) +
                          ",\"cost\":{\"kernels\":{\"test_fill\":{\"us\":3},"
                          "\"test_accumulate\":{\"us\":5}},\"copy\":{\"us\":2}}"));
  Stream& main = *machine.streams[0];
  const Ref<Event> start = machine.fixture.event(true);
  const Ref<Event> end = machine.fixture.event(true);
  const auto check = [&](int launches, const char* how) {
    OK(end->record(main, false));
    OK(end->wait_blocking());
    double ms = 0;
    OK(Event::elapsed_ms(*start, *end, ms));
    const double expected = launches * longest_path(program.steps) / 1000.0;
    CHECK_WITH(std::abs(ms - expected) < 1e-9, "seed " + std::to_string(seed) + " " + schedule +
                                                   " " + how + " " + std::to_string(ms) +
                                                   ", expected " + std::to_string(expected));
  };
  OK(start->record(main, false));
  machine.submit(program.steps);
  check(1, "eager");
  const Ref<Exec> exec = capture(machine, program.steps);
  OK(start->record(main, false));
  OK(exec->launch(main));
  OK(exec->launch(main));
  check(2, "replayed");
}

// As many for each of the four schedules.
constexpr uint64_t kSeeds = 50;

}  // namespace

TEST("random programs: the virtual clock gives the longest path under every schedule") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const char* schedule : {"parallel", "serial", "random", "adversarial"}) {
      time_program(seed, schedule);
    }
  }
}

TEST("random programs: parallel schedule agrees with one thread") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) run_program(seed, "parallel");
}

TEST("random programs: serial schedule agrees with one thread") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) run_program(1000 + seed, "serial");
}

TEST("random programs: random schedule agrees with one thread") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) run_program(2000 + seed, "random");
}

TEST("random programs: adversarial schedule agrees with one thread") {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) run_program(3000 + seed, "adversarial");
}

TEST("random programs: the checker finds every left-out wait, eager and captured") {
  int tried = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Generator program(seed, kSteps);
    if (program.needed_waits.empty()) continue;
    const size_t left_out = program.needed_waits[seed % program.needed_waits.size()];
    const std::string name = "seed " + std::to_string(seed);
    Machine machine(options("\"raceCheck\":true,\"schedule\":\"serial\""));
    machine.submit(program.steps, left_out);
    OK(synchronize_device(*machine.fixture.runtime));
    CHECK_WITH(machine.fixture.runtime->races().take() != "[]", name + " eager");
    OK(machine.streams[0]->begin_capture(1));
    machine.submit(program.steps, left_out);
    Ref<Graph> graph;
    OK(machine.streams[0]->end_capture(graph));
    Ref<Exec> exec;
    OK(Exec::instantiate(graph, exec));
    CHECK_WITH(machine.fixture.runtime->races().take() != "[]", name + " captured");
    ++tried;
  }
  CHECK(tried > 20);
}

}  // namespace crt_test
