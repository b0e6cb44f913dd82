// Compares what was seen with the table and writes it down.
#pragma once

#include <string>
#include <vector>

#include "harness/table.h"

namespace conformance {

/// One played entry.
struct Result {
  Play play;
  Observations got;  // may have more than was expected, e.g. times
  std::string different;  // the keys that are not as expected; empty = right
};

/// Where the rows were played.
struct Machine {
  std::string device;
  int driver = 0;   // as cudaDriverGetVersion says
  int runtime = 0;  // as cudaRuntimeGetVersion says
};

/// Which expected observations are missing or different, and an unexpected end of the process.
std::string differences(const Observations& expected, const Observations& got);

/// The file `conformance-driver-<version>.json`. False when it cannot be written.
bool write_report(const std::string& path, const Machine& machine,
                  const std::vector<Result>& results);

/// The differences, a line each, and the counts. Returns the number of wrong rows.
size_t print_summary(const std::vector<Result>& results);

}  // namespace conformance
