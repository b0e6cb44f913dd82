// The table of expectations, test/conformance/rows/*.json, expanded to one entry per program.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace conformance {

using Observations = std::map<std::string, std::string>;

/// One program: a row, one of its cases, one mode.
struct Play {
  std::string id;         // CB01
  std::string name;       // the case; empty when the row has only one
  char mode = 'T';        // G, T, R, or - without a capture
  Observations expected;  // what CUDA answers according to the table
  std::string skip;       // why this program cannot play it
  bool is_alone = false;  // measures time: nothing else may run meanwhile
  bool is_usable = true;  // afterwards all streams must work
};

/// Reads every *.json of a folder. False when it cannot; `error` then says why.
bool load_table(const std::string& folder, std::vector<Play>& plays, std::string& error);

}  // namespace conformance
