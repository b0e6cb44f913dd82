#include "harness/table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/json.h"

namespace conformance {
namespace {

using cuda_runtime::core::JsonValue;
using Type = JsonValue::Type;

std::string as_text(const JsonValue& value) {
  if (value.type == Type::kNumber) return std::to_string(static_cast<long long>(value.number));
  return value.text();
}

// A list has one value for each of the modes G, T, R.
std::string value_of(const JsonValue& value, char mode) {
  if (value.type != Type::kArray) return as_text(value);
  const size_t index = mode == 'T' ? 1 : mode == 'R' ? 2 : 0;
  return index < value.items.size() ? as_text(value.items[index]) : "no value for this mode";
}

void add_observations(const JsonValue& expect, char mode, Observations& observations) {
  for (const auto& [key, value] : expect.members) observations[key] = value_of(value, mode);
}

const JsonValue& first_of(const JsonValue& a, const JsonValue& b, const std::string& name) {
  const JsonValue& own = a[name];
  return own.type == Type::kNull ? b[name] : own;
}

void add_case(const JsonValue& family, const JsonValue& row, const JsonValue& entry,
              std::vector<Play>& plays) {
  const JsonValue& row_modes = first_of(row, family, "modes");
  const JsonValue& own_modes = entry["modes"];
  const std::string modes = own_modes.type == Type::kNull ? row_modes.text("T") : own_modes.text();
  for (const char mode : modes) {
    Play play;
    play.id = row["id"].text();
    play.name = entry.type == Type::kString ? entry.text() : entry["name"].text();
    play.mode = mode;
    play.skip = first_of(entry, row, "driver").text();
    play.is_alone = first_of(entry, row, "alone").bool_or(false);
    play.is_usable = first_of(entry, row, "usable").bool_or(true);
    add_observations(row["expect"], mode, play.expected);
    add_observations(entry["expect"], mode, play.expected);
    if (play.is_usable) play.expected["usable"] = "yes";
    plays.push_back(std::move(play));
  }
}

bool add_family(const std::filesystem::path& path, std::vector<Play>& plays, std::string& error) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  JsonValue family;
  if (!file || !cuda_runtime::core::parse_json(text.str(), family, error)) {
    error = path.string() + ": " + (error.empty() ? "cannot be read" : error);
    return false;
  }
  for (const JsonValue& row : family["rows"].items) {
    static const JsonValue one_case;
    const std::vector<JsonValue>& cases = row["cases"].items;
    if (cases.empty()) add_case(family, row, one_case, plays);
    for (const JsonValue& entry : cases) add_case(family, row, entry, plays);
  }
  return true;
}

}  // namespace

bool load_table(const std::string& folder, std::vector<Play>& plays, std::string& error) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (failure || files.empty()) {
    error = folder + ": no folder with *.json files";
    return false;
  }
  for (const auto& path : files) {
    if (!add_family(path, plays, error)) return false;
  }
  return true;
}

}  // namespace conformance
