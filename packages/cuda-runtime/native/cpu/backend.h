// The CPU as a backend: the same streams, events and graphs, run by threads of this process.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/runtime.h"
#include "cpu/device/memory_pool.h"
#include "cpu/scheduler.h"

namespace cuda_runtime::cpu {

class CpuBackend : public core::Backend {
 public:
  /// Checks the options and makes the runtime.
  static core::Status open(const core::RuntimeOptions& options, core::Ref<core::Runtime>& runtime);

  CpuBackend(const SchedulerOptions& scheduler, const core::RuntimeOptions& options);

  const char* name() const override { return "cpu"; }
  void describe(core::JsonWriter& json) override;
  void describe_device(core::JsonWriter& json) override;
  void statistics(core::JsonWriter& json) override;

  core::PriorityRange priority_range() const override;
  std::unique_ptr<core::StreamQueue> make_queue(core::Stream& stream) override;
  core::Ref<core::Ticket> enqueue(core::Stream& stream, core::Ref<core::Work> work) override;
  core::Ref<core::Ticket> mark(core::Stream& stream, const core::MarkRequest& request) override;
  void wait(core::Stream& stream, core::Ticket& ticket) override;
  core::Ref<core::Ticket> tail(core::Stream& stream) override;
  uint64_t pending(core::Stream& stream) override;
  void visit_submitted(
      const std::function<void(const core::SubmittedWork&)>& visitor) override;
  double elapsed_ms(core::Ticket& start, core::Ticket& end) override;
  bool traces_itself() const override { return true; }
  void notify(core::Ticket& ticket, const core::MarkRequest& request) override;
  bool wait_blocking(core::Ticket& ticket, int64_t timeout_ms) override;
  core::DeviceLoss& device_loss() override { return scheduler_->faults().loss(); }
  core::Status take_fault() override;
  core::Status loss() const override;
  bool poll(core::Ticket& ticket) override;
  bool orders_host() const override;
  void host_saw(const core::Ticket& ticket) override;
  void host_saw_idle(core::Stream& stream) override;
  core::Status inject(const core::JsonValue& rule) override;

  core::Status allocate(uint64_t bytes, const std::string& label, core::MemoryPlace place,
                        uint8_t*& data) override;
  core::MemoryState memory_state(core::MemoryPlace place) override;
  void free_memory(uint8_t* data, uint64_t bytes, const std::string& label,
                   core::MemoryPlace place) override;
  void check_guards() override { memory_.check_guards(runtime_->races()); }
  core::Status stage(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged) override;

  core::Status load_image(const core::JsonValue& manifest, const std::string& directory,
                          const std::vector<core::KernelLayout>& layouts,
                          std::unique_ptr<core::ModuleImage>& image) override;

  core::Status occupancy(core::Kernel& kernel, uint32_t threads, uint64_t shared_bytes,
                         int& blocks) override;

  core::Status start_callbacks() override;
  core::Status plan(const core::Graph& graph, bool node_priority,
                    std::unique_ptr<core::ExecPlan>& plan) override;
  void set_node(core::Exec& exec, const core::GraphNode& node, uint32_t index) override;
  core::Ref<core::Ticket> launch(core::Stream& stream, core::Exec& exec) override;

 private:
  void append(core::Stream& stream, const core::Ref<Operation>& operation, core::Ticket* extra);

  core::Runtime* runtime_ = nullptr;  // owns this backend
  MemoryPool memory_;
  std::unique_ptr<Scheduler> scheduler_;
  const SchedulerOptions scheduler_options_;
  core::Ref<Operation> legacy_tail_;  // guarded by the runtime's mutex
};

}  // namespace cuda_runtime::cpu
