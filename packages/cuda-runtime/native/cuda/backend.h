// A CUDA device as a backend.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/runtime.h"
#include "cuda/device/device.h"
#include "cuda/queue/mark.h"

namespace cuda_runtime::cuda {

class CudaBackend : public core::Backend {
 public:
  /// Opens the device that the options name and makes the runtime.
  static core::Status open(const core::RuntimeOptions& options, core::Ref<core::Runtime>& runtime);

  explicit CudaBackend(Device& device) : device_(device) {}

  const char* name() const override { return "cuda"; }
  void describe(core::JsonWriter& json) override;
  void describe_device(core::JsonWriter& json) override { device_.write_info(json); }
  void statistics(core::JsonWriter& json) override { device_.write_statistics(json); }

  core::PriorityRange priority_range() const override;
  std::unique_ptr<core::StreamQueue> make_queue(core::Stream& stream) override;
  core::Ref<core::Ticket> enqueue(core::Stream& stream, core::Ref<core::Work> work) override;
  bool records_launch_events() const override { return true; }
  core::Ref<core::Ticket> mark(core::Stream& stream, const core::MarkRequest& request) override;
  void wait(core::Stream& stream, core::Ticket& ticket) override;
  core::Ref<core::Ticket> tail(core::Stream& stream) override;
  std::vector<core::Ref<core::Ticket>> tails_of_closed() override;
  /// Notes the last point of a stream that is gone.
  void note_closed(core::Ref<Mark> last) noexcept;
  uint64_t pending(core::Stream& stream) override;
  /// Of all runtimes on the device.
  void visit_submitted(
      const std::function<void(const core::SubmittedWork&)>& visitor) override;
  bool poll(core::Ticket& ticket) override;
  double elapsed_ms(core::Ticket& start, core::Ticket& end) override;
  void notify(core::Ticket& ticket, const core::MarkRequest& request) override;
  bool wait_blocking(core::Ticket& ticket, int64_t timeout_ms) override;
  core::DeviceLoss& device_loss() override { return device_.loss(); }
  core::Status take_fault() override;
  core::Status loss() const override;

  core::Status allocate(uint64_t bytes, const std::string& label, core::MemoryPlace place,
                        uint8_t*& data) override;
  core::MemoryState memory_state(core::MemoryPlace place) override;
  void free_memory(uint8_t* data, uint64_t bytes, const std::string& label,
                   core::MemoryPlace place) override;
  core::Status stage(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged) override;

  core::Status load_image(const core::JsonValue& manifest, const std::string& directory,
                          const std::vector<core::KernelLayout>& layouts,
                          std::unique_ptr<core::ModuleImage>& image) override;

  core::Status describe_kernel(core::Kernel& kernel, core::JsonWriter& json) override;
  core::Status occupancy(core::Kernel& kernel, uint32_t threads, uint64_t shared_bytes,
                         int& blocks) override;

  core::Status plan(const core::Graph& graph, bool node_priority,
                    std::unique_ptr<core::ExecPlan>& plan) override;
  void set_node(core::Exec& exec, const core::GraphNode& node, uint32_t index) override;
  core::Status upload(core::Stream& stream, core::Exec& exec) override;
  core::Ref<core::Ticket> launch(core::Stream& stream, core::Exec& exec) override;
  core::Status driver_dot(core::Exec& exec, bool verbose, std::string& text) override;

 private:
  core::Ref<core::Ticket> launch_with_events(core::Stream& stream, core::Ref<core::Work> work);
  void read_back(core::Stream& stream, core::Ref<core::Work> work);

  Device& device_;
  core::Runtime* runtime_ = nullptr;  // owns this backend
  core::Mutex closed_mutex_;
  std::vector<core::Ref<Mark>> closed_;  // last points of streams that are gone
};

}  // namespace cuda_runtime::cuda
