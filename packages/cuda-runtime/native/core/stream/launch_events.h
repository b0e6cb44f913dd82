// Events that a launch itself records: when its blocks have triggered, and when they have all
// begun.
#pragma once

#include "core/stream/event.h"

namespace cuda_runtime::core {

class Stream;

struct LaunchEvents {
  Ref<Event> triggered;         // or null
  bool at_block_start = false;  // triggered: when a block begins instead of when it says so
  Ref<Event> started;           // or null
};

/// Same runtime, and no timing, of which such an event has none (801).
Status check_launch_events(const Stream& stream, const LaunchEvents& events);
/// The events stand for that point of a node: whoever waits for one gets an edge from its port.
/// Needs the runtime's mutex, as the following.
void capture_launch_events(Stream& stream, uint32_t node, const LaunchEvents& events);
/// The events stand for a ticket.
void set_launch_event(Event& event, Ref<Ticket> ticket);

}  // namespace cuda_runtime::core
