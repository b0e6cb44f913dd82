// Just enough JSON for what crosses the border rarely: options, manifests, reports.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_runtime::core {

/// A parsed value. Missing members read as the given fallback.
class JsonValue {
 public:
  enum class Type { kNull, kBool, kNumber, kString, kArray, kObject };

  Type type = Type::kNull;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> items;
  std::map<std::string, JsonValue> members;

  const JsonValue& operator[](const std::string& name) const;
  std::string text(const std::string& fallback = {}) const;
  double number_or(double fallback) const;
  bool bool_or(bool fallback) const;
};

/// False when the text is not JSON; `error` then says where.
bool parse_json(std::string_view text, JsonValue& value, std::string& error);

/// Appends JSON to a string; commas are its business.
class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(int64_t number);
  void value(uint64_t number);
  void value(double number);
  void value(bool boolean);
  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  std::string take() { return std::move(out_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace cuda_runtime::core
