#include "core/check/audit/holder.h"

#include <algorithm>

namespace cuda_runtime::core {

bool Holder::covers(const Holder& other) const {
  if (by != other.by || record != other.record) return false;
  if (node != kNoNode && other.node != kNoNode) return true;
  return node == other.node && operation == other.operation && stream == other.stream &&
         environment == other.environment && handle == other.handle;
}

void Holder::write(JsonWriter& json, uint64_t own_environment) const {
  json.begin_object();
  json.field("by", by);
  json.field("count", count);
  if (record != 0) json.field("record", record);
  if (node != kNoNode) json.field("node", static_cast<uint64_t>(node));
  if (!operation.empty()) json.field("operation", operation);
  if (!stream.empty()) json.field("stream", stream);
  if (environment != 0) {
    json.field("environment", environment);
    json.field("isOwn", environment == own_environment);
  }
  if (handle != 0) {
    json.field("isImported", is_imported);
    if (environment == own_environment) json.field("handle", static_cast<uint64_t>(handle));
  }
  json.end_object();
}

void add_holder(std::vector<Holder>& holders, Holder holder) {
  // Nodes of one graph come one after another: looking from the end finds them at once.
  const auto known = std::find_if(holders.rbegin(), holders.rend(),
                                  [&](const Holder& other) { return other.covers(holder); });
  if (known == holders.rend()) {
    holders.push_back(std::move(holder));
  } else {
    ++known->count;
  }
}

}  // namespace cuda_runtime::core
