// The programs of the rows, one file a family.
#pragma once

#include <map>
#include <string>

#include "harness/scene.h"

namespace conformance {

/// Plays all cases of a row; the scene knows which.
using RowProgram = void (*)(Scene& scene);
using Rows = std::map<std::string, RowProgram>;

/// CG09, cases `… in a chain`.
void switched_off_in_chains(Scene& scene);
/// CG17.
void mixed_edges(Scene& scene);

void add_begin_and_end(Rows& rows);
void add_calls(Rows& rows);
void add_calls_on_graphs(Rows& rows);
void add_legacy_stream(Rows& rows);
void add_across_streams(Rows& rows);
void add_captured_events(Rows& rows);
void add_threads(Rows& rows);
void add_invalidation(Rows& rows);
void add_graphs(Rows& rows);
void add_update(Rows& rows);
void add_memory(Rows& rows);
void add_programmatic(Rows& rows);
void add_without_capture(Rows& rows);

}  // namespace conformance
