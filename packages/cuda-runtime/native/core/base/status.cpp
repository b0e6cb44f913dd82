#include "core/base/status.h"

#include "core/base/json.h"

namespace cuda_runtime::core {

Status Status::error(const char* code, int number, std::string detail, std::string hint) {
  Fault fault;
  fault.code = code;
  fault.number = number;
  fault.detail = std::move(detail);
  fault.hint = std::move(hint);
  return Status(std::move(fault));
}

Status Status::argument(std::string detail, std::string hint) {
  return error("CRT_ARGUMENT", kInvalidValue, std::move(detail), std::move(hint));
}

Status&& Status::on_stream(std::string name) && {
  if (fault_ != nullptr) fault_->stream = std::move(name);
  return std::move(*this);
}

Status&& Status::in_capture(uint64_t id) && {
  if (fault_ != nullptr) fault_->capture_id = id;
  return std::move(*this);
}

Status&& Status::caused_by(const Status& earlier) && {
  if (fault_ != nullptr && !earlier.ok()) {
    fault_->cause = std::make_shared<const Fault>(earlier.fault());
  }
  return std::move(*this);
}

namespace {

void write_memory(JsonWriter& json, const MemoryFacts& memory) {
  json.field("requestedBytes", memory.requested);
  json.field("freeBytes", memory.free);
  json.field("reservedBytes", memory.reserved);
  json.key("largestLive");
  json.begin_array();
  for (const auto& [label, bytes] : memory.largest) {
    json.begin_object();
    json.field("label", label);
    json.field("bytes", bytes);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const Fault& fault, const char* api) {
  JsonWriter json;
  json.begin_object();
  json.field("code", fault.code);
  json.field("api", api);
  json.field("number", static_cast<int64_t>(fault.number));
  json.field("detail", fault.detail);
  json.field("hint", fault.hint);
  json.field("stream", fault.stream);
  json.field("captureId", std::to_string(fault.capture_id));
  if (!fault.reason.empty()) json.field("reason", fault.reason);
  if (!fault.file.empty()) {
    json.field("file", fault.file);
    json.field("byte", fault.byte);
    json.field("systemError", static_cast<int64_t>(fault.system_error));
  }
  if (fault.memory) write_memory(json, *fault.memory);
  json.end_object();
  return json.take();
}

}  // namespace cuda_runtime::core
