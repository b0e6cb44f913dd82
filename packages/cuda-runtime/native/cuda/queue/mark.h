// A point in a stream: a private event, and who is told when it is reached.
#pragma once

#include <cuda_runtime_api.h>

#include "core/backend.h"
#include "core/base/inline_vector.h"
#include "core/base/mutex.h"
#include "core/memory/staging.h"
#include "core/ticket.h"

namespace cuda_runtime::cuda {

class Device;

/// A token to post, and the bytes of a read that go with it.
struct Notice {
  core::Ref<core::CompletionSink> sink;
  int64_t token = 0;
  const char* api = "";
  std::unique_ptr<core::StagedBytes> bytes;
};

class Mark : public core::Ticket {
 public:
  /// Takes an event from the device's pool; throws when there is none.
  Mark(Device& device, bool timing);
  ~Mark() override;

  cudaEvent_t event() const { return event_; }
  bool has_timing() const { return timing_; }
  /// Everything after this runs behind what is on the stream now; throws when the driver refuses.
  void record(cudaStream_t stream);
  /// Asks the driver. A lost device counts as reached: nobody may wait for ever.
  bool poll();

  /// False when the mark was settled already: then the notice is the caller's to deliver.
  bool add_notice(Notice& notice);
  /// Reached: delivers the notices, once.
  void settle();
  static void deliver(Device& device, Notice& notice);

 private:
  Device& device_;
  const bool timing_;
  const cudaEvent_t event_;
  core::Mutex mutex_;
  bool settled_ = false;
  core::InlineVector<Notice, 1> notices_;
};

}  // namespace cuda_runtime::cuda
