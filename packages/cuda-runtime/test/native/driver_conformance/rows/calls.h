// A call while S1 captures.
#pragma once

#include "harness/scene.h"

namespace conformance {

/// Begins on S1, makes the call, puts `call`, `after` and `end`.
template <typename Call>
void during(Scene& s, const Call& call) {
  s.begin(s.s1);
  s.put("call", call());
  s.finish();
}

/// Puts `executed`: yes or no.
void put_executed(Scene& s, bool is_executed);

}  // namespace conformance
