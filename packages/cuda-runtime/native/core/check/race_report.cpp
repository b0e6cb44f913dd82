#include "core/check/race_report.h"

#include <algorithm>

#include "core/base/json.h"

namespace cuda_runtime::core {
namespace {

std::string act(const Touch& touch) {
  return touch.by.name + ((touch.mode & kWrite) != 0 ? " writes" : " reads");
}

std::string bytes_of(const Buffer& buffer, uint64_t begin, uint64_t end) {
  return " bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
         buffer.describe();
}

RaceReport make(const char* kind, const Buffer& buffer, const Touch& second) {
  RaceReport report;
  report.kind = kind;
  report.second = act(second);
  report.second_origin = second.by.origin;
  report.buffer = buffer.label().empty() ? buffer.describe() : buffer.label();
  return report;
}

}  // namespace

RaceReport make_race(const Buffer& buffer, const Touch& first, const Touch& second) {
  RaceReport race = make("race", buffer, second);
  race.first = act(first);
  race.first_origin = first.by.origin;
  race.message = race.first + " and " + race.second +
                 bytes_of(buffer, std::max(first.begin, second.begin),
                          std::min(first.end, second.end)) +
                 " and nothing orders them";
  return race;
}

RaceReport make_outside_life(const Buffer& buffer, const Touch& touch, bool behind,
                             const Submission& memory_node) {
  RaceReport report = make("not-allocated", buffer, touch);
  report.first = memory_node.name;
  report.first_origin = memory_node.origin;
  report.message = report.second + bytes_of(buffer, touch.begin, touch.end) +
                   (behind ? " behind " : " before ") + memory_node.name +
                   (behind ? ", which frees it" : ", which allocates it");
  return report;
}

RaceReport make_not_allocated(const Buffer& buffer, const Touch& touch) {
  RaceReport report = make("not-allocated", buffer, touch);
  report.message = report.second + bytes_of(buffer, touch.begin, touch.end) +
                   ", which is memory of a graph: no launch has allocated it, or one has freed it";
  return report;
}

std::string to_json(const std::vector<RaceReport>& reports) {
  JsonWriter json;
  json.begin_array();
  for (const RaceReport& report : reports) {
    json.begin_object();
    json.field("kind", report.kind);
    json.field("first", report.first);
    json.field("second", report.second);
    json.field("buffer", report.buffer);
    json.field("message", report.message);
    if (report.first_origin) json.field("firstStack", *report.first_origin);
    if (report.second_origin) json.field("secondStack", *report.second_origin);
    json.end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace cuda_runtime::core
