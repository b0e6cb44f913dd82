#include "cpu/device/device_report.h"

#include <sched.h>

#include <fstream>
#include <string>

#include "cpu/device/level.h"

namespace cuda_runtime::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

void write_triple(core::JsonWriter& json, const char* name, uint64_t x, uint64_t y, uint64_t z) {
  json.key(name);
  json.begin_array();
  for (const uint64_t size : {x, y, z}) json.value(size);
  json.end_array();
}

}  // namespace

uint32_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

void report_device(core::JsonWriter& json, const SchedulerOptions& options, uint64_t total_bytes) {
  json.field("name", processor_name());
  json.field("uuid", "cpu");
  json.field("sm", "0.0");
  json.key("limits");
  json.begin_object();
  json.field("sm", "0.0");
  json.field("processors", static_cast<uint64_t>(usable_processors()));
  json.field("warpSize", uint64_t{32});
  json.field("maxThreadsPerBlock", static_cast<uint64_t>(kMaxThreadsPerBlock));
  write_triple(json, "maxBlock", 1024, 1024, 64);
  write_triple(json, "maxGrid", 2'147'483'647, 65'535, 65'535);
  json.field("sharedBytes", uint64_t{49'152});
  json.field("sharedBytesOptIn", static_cast<uint64_t>(kMaxSharedBytes));
  json.field("maxClusterBlocks", static_cast<uint64_t>(kMaxClusterBlocks));
  json.field("totalBytes", total_bytes);
  json.field("cpuLevel", level_name(options.level));
  json.field("cpuThreads", static_cast<uint64_t>(options.threads));
  json.end_object();
}

}  // namespace cuda_runtime::cpu
