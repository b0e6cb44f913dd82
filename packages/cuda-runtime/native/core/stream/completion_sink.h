// Where completions go: the JavaScript environment, or a test.
#pragma once

#include <memory>
#include <string>

#include "core/memory/staging.h"
#include "core/ticket.h"

namespace cuda_runtime::core {

class Runtime;

/// Called from any thread; must not call back into the runtime. Calls after the environment's end
/// are dropped by the sink.
class CompletionSink : public RefCounted {
 public:
  /// `status` is empty when all went well, else JSON of a NativeFault.
  virtual void post(int64_t token, std::string status) = 0;
  /// Keeps the bytes of a read until JavaScript takes them.
  virtual void stage(int64_t token, std::unique_ptr<StagedBytes> bytes) = 0;
  /// With the race checker: what the token, once delivered, tells the host to be complete.
  virtual void expect(int64_t token, Ref<Runtime> runtime, Ref<Ticket> ticket) = 0;
};

}  // namespace cuda_runtime::core
