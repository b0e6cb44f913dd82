// Rows that are played without a device.
#pragma once

#include <string>

namespace conformance {

bool has_program_without_device(const std::string& id);
void play_without_device(const std::string& id, const std::string& name, char mode);

}  // namespace conformance
