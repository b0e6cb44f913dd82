#include "core/check/check_options.h"

#include <cmath>

namespace cuda_runtime::core {
namespace {

Status read_cost(const std::string& name, const JsonValue& json, OperationCost& cost) {
  if (json.type == JsonValue::Type::kNull) return {};
  const double us = json["us"].number_or(0);
  const double rate = json["bytesPerUs"].number_or(0);
  if (!(us >= 0 && us <= 1e12) || !(rate >= 0)) {
    return Status::argument("`cpu.cost." + name + "` is not a cost, expected us and bytesPerUs of 0 or more");
  }
  cost.ns = us * 1000;
  cost.ns_per_byte = rate > 0 ? 1000 / rate : 0;
  return {};
}

}  // namespace

int64_t OperationCost::of(uint64_t bytes) const {
  return std::llround(ns + static_cast<double>(bytes) * ns_per_byte);
}

Status CheckOptions::parse(const JsonValue& cpu, CheckOptions& options) {
  const std::string clock = cpu["clock"].text("steady");
  if (clock != "steady" && clock != "virtual") {
    return Status::argument("`cpu.clock` is `" + clock + "`, expected steady or virtual");
  }
  const std::string reuse = cpu["reuse"].text("size");
  if (reuse != "size" && reuse != "immediate") {
    return Status::argument("`cpu.reuse` is `" + reuse + "`, expected size or immediate");
  }
  options.virtual_clock = clock == "virtual";
  options.reuse_any = reuse == "immediate";
  options.protect = cpu["protect"].bool_or(false);
  options.hang_ms = static_cast<int64_t>(cpu["hangMs"].number_or(10'000));
  const JsonValue& cost = cpu["cost"];
  Status status = read_cost("kernel", cost["kernel"], options.kernel_cost);
  if (status.ok()) status = read_cost("copy", cost["copy"], options.copy_cost);
  for (const auto& [name, entry] : cost["kernels"].members) {
    if (status.ok()) status = read_cost("kernels." + name, entry, options.kernel_costs[name]);
  }
  return status;
}

}  // namespace cuda_runtime::core
