// Where in JavaScript an operation was submitted, for the race checker: the call stack as text.
#pragma once

#include <memory>
#include <string>

namespace cuda_runtime::core {

/// Shared by all that one call submits; null when nobody said.
using Origin = std::shared_ptr<const std::string>;

/// Of what this thread submits from now on, until it says another.
void set_origin(Origin origin) noexcept;
const Origin& current_origin() noexcept;

}  // namespace cuda_runtime::core
