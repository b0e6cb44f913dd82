// Rows that are played without a device.
#pragma once

#include <string>

namespace conformance {

/// False when the row needs a device.
bool play_without_device(const std::string& id, const std::string& name);

}  // namespace conformance
