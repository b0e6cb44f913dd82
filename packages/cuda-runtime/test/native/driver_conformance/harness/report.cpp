#include "harness/report.h"

#include <cstdio>
#include <fstream>

#include "core/base/json.h"

namespace conformance {
namespace {

using cuda_runtime::core::JsonWriter;

struct Counts {
  size_t right = 0;
  size_t different = 0;
  size_t skipped = 0;
};

Counts count(const std::vector<Result>& results) {
  Counts counts;
  for (const Result& result : results) {
    if (!result.play.skip.empty()) {
      ++counts.skipped;
    } else if (result.different.empty()) {
      ++counts.right;
    } else {
      ++counts.different;
    }
  }
  return counts;
}

void write_observations(JsonWriter& json, const char* name, const Observations& observations) {
  json.key(name);
  json.begin_object();
  for (const auto& [key, value] : observations) json.field(key, std::string_view(value));
  json.end_object();
}

void write_row(JsonWriter& json, const Result& result) {
  json.begin_object();
  json.field("id", std::string_view(result.play.id));
  json.field("case", std::string_view(result.play.name));
  json.field("mode", std::string_view(&result.play.mode, 1));
  write_observations(json, "expected", result.play.expected);
  if (result.play.skip.empty()) {
    write_observations(json, "got", result.got);
    json.field("right", result.different.empty());
    json.field("note", std::string_view(result.different));
  } else {
    json.field("note", std::string_view(result.play.skip));
  }
  json.end_object();
}

}  // namespace

std::string differences(const Observations& expected, const Observations& got) {
  std::string text;
  const auto note = [&](const std::string& key, const std::string& want, const std::string& have) {
    text += (text.empty() ? "" : "; ") + key + ": expected " + want + ", got " + have;
  };
  for (const auto& [key, want] : expected) {
    const auto found = got.find(key);
    const std::string have = found == got.end() ? "nothing" : found->second;
    if (have != want) note(key, want, have);
  }
  const auto process = got.find("process");
  if (process != got.end() && expected.find("process") == expected.end()) {
    note("process", "to end well", process->second);
  }
  return text;
}

bool write_report(const std::string& path, const Machine& machine,
                  const std::vector<Result>& results) {
  const Counts counts = count(results);
  JsonWriter json;
  json.begin_object();
  json.field("backend", "driver");
  json.field("device", std::string_view(machine.device));
  json.field("driver", static_cast<int64_t>(machine.driver));
  json.field("runtime", static_cast<int64_t>(machine.runtime));
  json.field("right", static_cast<uint64_t>(counts.right));
  json.field("different", static_cast<uint64_t>(counts.different));
  json.field("notPlayed", static_cast<uint64_t>(counts.skipped));
  json.key("rows");
  json.begin_array();
  for (const Result& result : results) write_row(json, result);
  json.end_array();
  json.end_object();
  std::string text = json.take();
  // A row a line, so that two drivers can be compared by their lines.
  for (size_t at = text.find("{\"id\":"); at != std::string::npos;
       at = text.find("{\"id\":", at + 2)) {
    text.insert(at, "\n");
  }
  std::ofstream file(path);
  file << text << "\n";
  file.close();
  return !file.fail();
}

size_t print_summary(const std::vector<Result>& results) {
  for (const Result& result : results) {
    if (!result.play.skip.empty() || result.different.empty()) continue;
    const Play& play = result.play;
    std::printf("%s %s%s%c: %s\n", play.id.c_str(), play.name.c_str(),
                play.name.empty() ? "" : ", ", play.mode, result.different.c_str());
  }
  const Counts counts = count(results);
  std::printf("%zu right, %zu different, %zu not played\n", counts.right, counts.different,
              counts.skipped);
  return counts.different;
}

}  // namespace conformance
