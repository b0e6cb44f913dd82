#include "core/origin.h"

#include <utility>

namespace cuda_runtime::core {
namespace {

thread_local Origin current;

}  // namespace

void set_origin(Origin origin) noexcept { current = std::move(origin); }

const Origin& current_origin() noexcept { return current; }

}  // namespace cuda_runtime::core
