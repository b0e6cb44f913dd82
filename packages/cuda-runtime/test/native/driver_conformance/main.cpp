// driver_conformance: plays every row of test/conformance/rows against the raw driver, each in a
// process of its own, and writes what it answered. See docs/conformance.md.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "harness/child.h"
#include "harness/report.h"
#include "rows/rows.h"
#include "rows/without_device.h"

namespace conformance {
namespace {

// Exit codes; 0 = all rows are right.
constexpr int kDifferent = 1;
constexpr int kUsage = 2;
constexpr int kNoDevice = 3;
constexpr int kNotPlayable = 4;  // a child's: no such row, or no scene

struct Arguments {
  std::string table;
  std::string kernels;
  std::string out;
  std::string only;
  int limit_seconds = 20;
  int jobs = 8;
  bool without_device = false;  // for the tests of this program
  bool lists_missing = false;   // instead of playing: ids that have no program
  std::string row;              // set: this is a child
  std::string name;
  char mode = '-';
  bool is_usable = true;
};

int usage() {
  std::fprintf(stderr,
               "driver_conformance --table DIR --kernels DIR --out FILE [--only ID]"
               " [--jobs N] [--limit SECONDS]\n"
               "  --table    the folder test/conformance/rows\n"
               "  --kernels  the folder with test_kernels.*.fatbin, or one of those files\n"
               "  --out      becomes conformance-driver-<version>.json\n"
               "  --only     rows whose id begins so, e.g. CX or CU09\n"
               "  --list     plays nothing and prints ids that have no program\n");
  return kUsage;
}

bool parse(int count, char** values, Arguments& arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string flag = values[i];
    if (flag == "--without-device" || flag == "--list") {
      (flag == "--list" ? arguments.lists_missing : arguments.without_device) = true;
      continue;
    }
    if (++i == count) return false;
    const char* value = values[i];
    if (flag == "--table") arguments.table = value;
    else if (flag == "--kernels") arguments.kernels = value;
    else if (flag == "--out") arguments.out = value;
    else if (flag == "--only") arguments.only = value;
    else if (flag == "--limit") arguments.limit_seconds = std::max(1, std::atoi(value));
    else if (flag == "--jobs") arguments.jobs = std::max(1, std::atoi(value));
    else if (flag == "--row") arguments.row = value;
    else if (flag == "--case") arguments.name = value;
    else if (flag == "--mode") arguments.mode = value[0];
    else if (flag == "--usable") arguments.is_usable = value[0] == '1';
    else return false;
  }
  const std::string suffix = ".fatbin";
  std::string& kernels = arguments.kernels;
  if (kernels.size() > suffix.size() &&
      kernels.compare(kernels.size() - suffix.size(), suffix.size(), suffix) == 0) {
    const size_t slash = kernels.rfind('/');
    kernels = slash == std::string::npos ? "." : kernels.substr(0, slash);
  }
  return !arguments.row.empty() || (!arguments.table.empty() && !arguments.out.empty());
}

Rows all_rows() {
  Rows rows;
  add_begin_and_end(rows);
  add_calls(rows);
  add_calls_on_graphs(rows);
  add_legacy_stream(rows);
  add_across_streams(rows);
  add_captured_events(rows);
  add_threads(rows);
  add_invalidation(rows);
  add_graphs(rows);
  add_update(rows);
  add_memory(rows);
  add_programmatic(rows);
  add_without_capture(rows);
  return rows;
}

int play_one(const Arguments& arguments) {
  if (has_program_without_device(arguments.row)) {
    play_without_device(arguments.row, arguments.name, arguments.mode);
    return 0;
  }
  const Rows rows = all_rows();
  const auto found = rows.find(arguments.row);
  Scene scene(arguments.name, arguments.mode);
  std::string why;
  if (found == rows.end()) why = "no such row";
  if (!why.empty() || !scene.open(arguments.kernels, why)) {
    scene.put("scene", why);
    return kNotPlayable;
  }
  found->second(scene);
  if (arguments.is_usable) scene.put_usable();
  return 0;
}

// Rows about time are played alone after the others, which share the device.
void play_all(std::vector<Result>& results, const ChildTerms& terms, int jobs) {
  const auto play = [&](Result& result) {
    if (!result.play.skip.empty()) return;
    result.got = play_in_child(result.play, terms);
    result.different = differences(result.play.expected, result.got);
  };
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < results.size(); i = next++) {
      if (!results[i].play.is_alone) play(results[i]);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < jobs; ++i) threads.emplace_back(take);
  for (std::thread& thread : threads) thread.join();
  for (Result& result : results) {
    if (result.play.is_alone) play(result);
  }
}

// Makes no context: the children have theirs.
bool find_machine(Machine& machine) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaDriverGetVersion(&machine.driver);
  cudaRuntimeGetVersion(&machine.runtime);
  if (error != cudaSuccess || count == 0) {
    std::fprintf(stderr,
                 "driver_conformance: no CUDA device: %s (%d), driver version %d. Run it on a "
                 "machine with an NVIDIA GPU and driver.\n",
                 cudaGetErrorString(error), int(error), machine.driver);
    return false;
  }
  static cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) machine.device = properties.name;
  return true;
}

int list_missing(const std::vector<Play>& plays) {
  const Rows rows = all_rows();
  std::string missing;
  for (const Play& play : plays) {
    const bool is_known = rows.count(play.id) > 0 || has_program_without_device(play.id);
    if (play.skip.empty() && !is_known) missing += play.id + "\n";
  }
  std::printf("%s", missing.c_str());
  return missing.empty() ? 0 : kDifferent;
}

int play_table(const Arguments& arguments) {
  Machine machine;
  const bool needs_device = !arguments.without_device && !arguments.lists_missing;
  if (needs_device && !find_machine(machine)) return kNoDevice;
  std::vector<Play> plays;
  std::string error;
  if (!load_table(arguments.table, plays, error)) {
    std::fprintf(stderr, "driver_conformance: %s\n", error.c_str());
    return kUsage;
  }
  if (arguments.lists_missing) return list_missing(plays);
  std::vector<Result> results;
  for (Play& play : plays) {
    if (play.id.rfind(arguments.only, 0) == 0) results.push_back({std::move(play), {}, {}});
  }
  char program[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return kUsage;
  play_all(results, {program, arguments.kernels, arguments.limit_seconds}, arguments.jobs);
  const size_t different = print_summary(results);
  if (!write_report(arguments.out, machine, results)) {
    std::fprintf(stderr, "driver_conformance: cannot write %s\n", arguments.out.c_str());
    return kUsage;
  }
  return different == 0 ? 0 : kDifferent;
}

}  // namespace
}  // namespace conformance

int main(int count, char** values) {
  conformance::Arguments arguments;
  if (!conformance::parse(count, values, arguments)) return conformance::usage();
  if (arguments.row.empty()) return conformance::play_table(arguments);
  const int code = conformance::play_one(arguments);
  std::fflush(stdout);
  // Without the destructors of a process that may have lost its device.
  _exit(code);
}
