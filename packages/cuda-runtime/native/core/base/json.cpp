#include "core/base/json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace cuda_runtime::core {

const JsonValue& JsonValue::operator[](const std::string& name) const {
  static const JsonValue* const missing = new JsonValue();
  const auto found = members.find(name);
  return found == members.end() ? *missing : found->second;
}

std::string JsonValue::text(const std::string& fallback) const {
  return type == Type::kString ? string : fallback;
}

double JsonValue::number_or(double fallback) const {
  return type == Type::kNumber ? number : fallback;
}

bool JsonValue::bool_or(bool fallback) const { return type == Type::kBool ? boolean : fallback; }

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool run(JsonValue& value, std::string& error) {
    const bool good = parse(value, 0) && (skip_space(), at_ == text_.size());
    if (!good) error = "not JSON at character " + std::to_string(at_);
    return good;
  }

 private:
  static constexpr int kMaxDepth = 64;

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' ||
                                  text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool take(char expected) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool parse(JsonValue& value, int depth) {
    skip_space();
    if (depth > kMaxDepth || at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return parse_object(value, depth);
      case '[':
        return parse_array(value, depth);
      case '"':
        value.type = JsonValue::Type::kString;
        return parse_string(value.string);
      case 't':
      case 'f':
        value.type = JsonValue::Type::kBool;
        value.boolean = text_[at_] == 't';
        return take_word(value.boolean ? "true" : "false");
      case 'n':
        return take_word("null");
      default:
        return parse_number(value);
    }
  }

  bool parse_object(JsonValue& value, int depth) {
    value.type = JsonValue::Type::kObject;
    take('{');
    if (take('}')) return true;
    do {
      std::string name;
      skip_space();
      if (!parse_string(name) || !take(':') || !parse(value.members[name], depth + 1)) return false;
    } while (take(','));
    return take('}');
  }

  bool parse_array(JsonValue& value, int depth) {
    value.type = JsonValue::Type::kArray;
    take('[');
    if (take(']')) return true;
    do {
      value.items.emplace_back();
      if (!parse(value.items.back(), depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  bool parse_string(std::string& out) {
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (c != '\\') {
        out += c;
      } else if (!parse_escape(out)) {
        return false;
      }
    }
    return take('"');
  }

  bool parse_escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
      out += kValues[i];
      return true;
    }
    if (c != 'u' || at_ + 4 > text_.size()) return false;
    const auto code = std::strtoul(std::string(text_.substr(at_, 4)).c_str(), nullptr, 16);
    at_ += 4;
    // Our texts are file names and identifiers; surrogate pairs are kept as two 3-byte codes.
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | (code >> 6));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      out += static_cast<char>(0xE0 | (code >> 12));
      out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
    return true;
  }

  bool parse_number(JsonValue& value) {
    const std::string digits(text_.substr(at_, 40));
    char* end = nullptr;
    value.number = std::strtod(digits.c_str(), &end);
    if (end == digits.c_str()) return false;
    value.type = JsonValue::Type::kNumber;
    at_ += static_cast<size_t>(end - digits.c_str());
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool parse_json(std::string_view text, JsonValue& value, std::string& error) {
  return Parser(text).run(value, error);
}

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  value(name);
  out_ += ':';
  needs_comma_ = false;
}

void JsonWriter::value(std::string_view text) {
  separate();
  out_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out_ += escaped;
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void JsonWriter::value(int64_t number) {
  separate();
  out_ += std::to_string(number);
}

void JsonWriter::value(uint64_t number) {
  separate();
  out_ += std::to_string(number);
}

void JsonWriter::value(double number) {
  separate();
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", std::isfinite(number) ? number : 0.0);
  out_ += text;
}

void JsonWriter::value(bool boolean) {
  separate();
  out_ += boolean ? "true" : "false";
}

}  // namespace cuda_runtime::core
