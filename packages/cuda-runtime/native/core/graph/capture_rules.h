// Which calls a capture forbids (cuda-runtime.md 3.2, rules 5–11). With guards a forbidden call
// is refused and the capture stays intact; without, it breaks the captures that forbid it, as in
// CUDA. All functions need the runtime's mutex.
#pragma once

#include "core/graph/capture.h"

namespace cuda_runtime::core {

/// Refuses and, without guards, invalidates `sequence` (which may be null). `rule` is the row of
/// the table; refusals of guards are counted by it.
Status refuse(Runtime& runtime, CaptureSequence* sequence, Status status, const char* rule);

/// A call that could not be recorded, by this thread: rule 8.
Status check_unsafe(Runtime& runtime, const char* what, const char* rule);
/// Any use of a legacy stream while a blocking stream captures: rule 9.
Status check_legacy(Stream& stream);
/// Work, records and waits on the stream: rules 6 and 9.
Status check_submission(Stream& stream);
/// Query or synchronise a stream: CU01, CU03, CU04, CI03, CI05.
Status check_stream_query(Stream& stream, const char* what);
/// Device-wide synchronisation: rule 11.
Status check_device_synchronize(Runtime& runtime);
/// The same by a promise, which our captures survive: refused to a thread that captures, and while
/// another one captures globally.
Status check_device_wait(Runtime& runtime);
/// Query or synchronise an event: CU05, CU06, CX20.
Status check_event_query(Event& event, const char* what);
/// Launch of an executable on the stream: CU26.
Status check_graph_launch(Stream& stream);

}  // namespace cuda_runtime::core
