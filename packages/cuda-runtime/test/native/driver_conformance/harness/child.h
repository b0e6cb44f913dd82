// Plays one entry of the table in a process of its own: rows crash, hang, or break the device.
#pragma once

#include <string>

#include "harness/table.h"

namespace conformance {

/// How children are started.
struct ChildTerms {
  std::string program;   // this executable
  std::string kernels;   // folder of the test kernels' fatbins
  int limit_seconds = 20;
};

/// What a child printed, one `key<tab>value` a line; `process` says how it ended if not well:
/// `crash`, `hang`, or `exit n`.
Observations play_in_child(const Play& play, const ChildTerms& terms);

}  // namespace conformance
