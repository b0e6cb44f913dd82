// What a record, or work, keeps alive by its references.
#pragma once

#include <functional>

#include "core/backend.h"
#include "core/check/audit/holder.h"

namespace cuda_runtime::core {

/// Told the id of what is held, and by what.
using HeldVisitor = std::function<void(uint64_t held, Holder holder)>;

/// What the record is called in an audit; may be empty. Needs the runtime's mutex.
std::string audit_label(const Record& record);

/// Everything that the record's references keep, except for its runtime. Needs the runtime's mutex.
void visit_held(const Record& record, const HeldVisitor& visitor);

/// What is in flight keeps.
void visit_held(const SubmittedWork& submitted, const HeldVisitor& visitor);

}  // namespace cuda_runtime::core
