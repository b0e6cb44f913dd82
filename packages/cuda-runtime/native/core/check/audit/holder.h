// One answer to the question why a record is alive.
#pragma once

#include <string>
#include <vector>

#include "core/base/handle_table.h"
#include "core/base/json.h"
#include "core/graph/graph.h"

namespace cuda_runtime::core {

/// What keeps a record, once or `count` times. Fields that say nothing stay as they are here.
struct Holder {
  std::string by;           // handle, export, work, a kind of record, capture, or who a note names
  uint64_t record = 0;      // id of the record or capture that holds
  uint32_t node = kNoNode;  // of a graph: the first
  std::string operation;    // work and nodes: which
  std::string stream;       // work: where
  uint64_t environment = 0;  // handles and exports: whose
  Handle handle = 0;
  bool is_imported = false;
  uint64_t count = 1;

  /// The same but for the count; of a graph's nodes the first stands for all.
  bool covers(const Holder& other) const;
  /// Handles are told to their own environment only.
  void write(JsonWriter& json, uint64_t own_environment) const;
};

/// Adds the holder, or counts it when it is there.
void add_holder(std::vector<Holder>& holders, Holder holder);

}  // namespace cuda_runtime::core
