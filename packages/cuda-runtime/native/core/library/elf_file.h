// Whether a file is a whole shared library of this machine.
#pragma once

#include <string>

#include "core/base/status.h"

namespace cuda_runtime::core {

/// Looks at the headers only, and before the linker does: it maps the segments unchecked, and the
/// first access behind the end of a file that was cut short ends the process. A damaged file is
/// `CRT_BAD_KERNEL_IMAGE`, one that cannot be read `CRT_NO_KERNEL_IMAGE`.
Status check_elf_file(const std::string& path);

}  // namespace cuda_runtime::core
