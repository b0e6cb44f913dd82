#include "cuda/backend.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/failure.h"
#include "core/stream/launch_events.h"
#include "core/stream/stream.h"
#include "cuda/driver.h"
#include "cuda/graph/driver_dot.h"
#include "cuda/graph/plan.h"
#include "cuda/image.h"
#include "cuda/launch_kernel.h"
#include "cuda/name_stream.h"
#include "cuda/queue/queue.h"

namespace cuda_runtime::cuda {
namespace {

using core::Ref;
using core::Runtime;
using core::Status;
using core::Stream;
using core::Ticket;
using core::Work;
using core::WorkKind;

constexpr int64_t kSpinNs = 50'000;
constexpr int64_t kYieldNs = 2'000'000;
constexpr int64_t kRestNs = 50'000;

/// A stream's queue; what is in flight outlives the stream.
class CudaStreamQueue : public core::StreamQueue {
 public:
  CudaStreamQueue(CudaBackend& backend, Ref<Queue> queue)
      : backend_(backend), queue_(std::move(queue)) {}
  ~CudaStreamQueue() override { backend_.note_closed(queue_->close()); }
  Queue& queue() const { return *queue_; }

 private:
  CudaBackend& backend_;  // the stream keeps its runtime, and that the backend
  const Ref<Queue> queue_;
};

Queue& queue_of(Stream& stream) { return static_cast<CudaStreamQueue&>(stream.queue()).queue(); }

Mark& mark_of(Ticket& ticket) { return static_cast<Mark&>(ticket); }

Notice notice_of(const core::MarkRequest& request) {
  return {request.sink, request.token, request.api, nullptr};
}

void rest(int64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

}  // namespace

Status CudaBackend::open(const core::RuntimeOptions& options, Ref<Runtime>& runtime) {
  Device* device = nullptr;
  Status status = Device::open(options.device, options.pool, device);
  if (!status.ok()) return status;
  auto backend = std::make_unique<CudaBackend>(*device);
  CudaBackend& cuda = *backend;
  runtime = core::make_ref<Runtime>(options, std::move(backend));
  cuda.runtime_ = runtime.get();
  return {};
}

void CudaBackend::describe(core::JsonWriter& json) {
  int driver = 0;
  int linked = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&linked);
  json.field("device", static_cast<int64_t>(device_.ordinal()));
  json.field("deviceName", std::string(device_.properties().name));
  json.field("driverVersion", static_cast<int64_t>(driver));
  json.field("runtimeVersion", static_cast<int64_t>(linked));
  json.field("capture", "recorded by the runtime, built node by node");
  json.field("stagingBytes", device_.staging().reserved());
  device_.pool_options().write(json);
  json.field("lost", device_.is_lost());
}

core::PriorityRange CudaBackend::priority_range() const {
  return {0, device_.greatest_priority()};
}

std::unique_ptr<core::StreamQueue> CudaBackend::make_queue(Stream& stream) {
  device_.require();
  device_.make_current();
  cudaStream_t native = cudaStreamLegacy;
  if (!stream.is_legacy()) {
    const unsigned flags = stream.is_blocking() ? cudaStreamDefault : cudaStreamNonBlocking;
    check(cudaStreamCreateWithPriority(&native, flags, stream.priority()), "creating a stream");
    name_stream(native, stream.display_name().c_str());
  }
  const bool is_plain = !stream.is_legacy() && stream.priority() == 0;
  try {
    return std::make_unique<CudaStreamQueue>(
        *this, core::make_ref<Queue>(device_, native, stream.display_name(), !stream.is_legacy(),
                                     is_plain));
  } catch (...) {
    if (!stream.is_legacy()) device_.reaper().destroy_stream(native);
    throw;
  }
}

Ref<Ticket> CudaBackend::enqueue(Stream& stream, Ref<Work> work) {
  device_.require();
  device_.make_current();
  Queue& queue = queue_of(stream);
  if (work->kind == WorkKind::kNotify) {
    return queue.mark(false, {work->sink, work->token, "", nullptr});
  }
  if (work->kind == WorkKind::kRead) {
    read_back(stream, std::move(work));
    return nullptr;
  }
  if (work->events != nullptr) return launch_with_events(stream, std::move(work));
  const Work& what = *work;
  queue.submit(
      {std::move(work), nullptr, nullptr, false, nullptr}, [&] { return "submitting " + what.label(); },
      [&] {
        if (what.kind == WorkKind::kKernel && queue.is_plain()) {
          return launch_plain_kernel(what, queue.stream());
        }
        if (what.kind == WorkKind::kKernel) return launch_kernel(what, queue.stream(), {});
        if (what.kind == WorkKind::kHost) return call_host(what, queue.stream());
        return move_bytes(what, what.to, what.from, queue.stream());
      });
  return nullptr;
}

Ref<Ticket> CudaBackend::launch_with_events(Stream& stream, Ref<Work> work) {
  const std::unique_ptr<core::LaunchEvents> events = std::move(work->events);
  Queue& queue = queue_of(stream);
  const auto mark_for = [&](const Ref<core::Event>& event) {
    return event ? core::make_ref<Mark>(device_, false) : Ref<Mark>();
  };
  const Ref<Mark> triggered = mark_for(events->triggered);
  const Ref<Mark> started = mark_for(events->started);
  const LaunchMarks marks{triggered ? triggered->event() : nullptr, events->at_block_start,
                          started ? started->event() : nullptr};
  WatchPlaces places(device_.waiter(), 2);
  const Work& what = *work;
  queue.submit(
      {std::move(work), nullptr, nullptr, false, nullptr}, [&] { return "submitting " + what.label(); },
      [&] { return launch_kernel(what, queue.stream(), marks); });
  // Submitted: from here on nothing may fail.
  const auto publish = [&](const Ref<core::Event>& event, const Ref<Mark>& mark) {
    if (!event) return;
    core::set_launch_event(*event, mark);
    places.watch(mark);
  };
  publish(events->triggered, triggered);
  publish(events->started, started);
  return nullptr;
}

void CudaBackend::read_back(Stream& stream, Ref<Work> work) {
  std::unique_ptr<core::StagedBytes> bytes;
  Status status = device_.staging().take(work->bytes, bytes);
  if (!status.ok()) throw core::StatusException(std::move(status));
  Queue& queue = queue_of(stream);
  const Ref<Work> what = work;
  uint8_t* const to = bytes->data();
  auto mark = core::make_ref<Mark>(device_, false);
  Notice notice{what->sink, what->token, "stream.read", std::move(bytes)};
  mark->add_notice(notice);
  queue.submit(
      {std::move(work), nullptr, mark, false, nullptr}, [] { return "reading from the device"; },
      [&] { return move_bytes(*what, to, what->from, queue.stream()); });
  device_.waiter().hurry();
}

Ref<Ticket> CudaBackend::mark(Stream& stream, const core::MarkRequest& request) {
  device_.require();
  device_.make_current();
  return queue_of(stream).mark(request.timing, notice_of(request));
}

void CudaBackend::wait(Stream& stream, Ticket& ticket) {
  device_.require();
  device_.make_current();
  if (ticket.is_complete()) return;
  Queue& queue = queue_of(stream);
  // In flight like work: whoever waits for this stream waits for the event, too.
  queue.submit(
      {}, [] { return "waiting for an event"; },
      [&] { return cudaStreamWaitEvent(queue.stream(), mark_of(ticket).event(), 0); });
}

Ref<Ticket> CudaBackend::tail(Stream& stream) {
  device_.require();
  device_.make_current();
  return queue_of(stream).tail();
}

std::vector<Ref<Ticket>> CudaBackend::tails_of_closed() {
  core::LockGuard lock(closed_mutex_);
  return {closed_.begin(), closed_.end()};
}

void CudaBackend::note_closed(Ref<Mark> last) noexcept {
  if (!last || last->is_complete()) return;
  try {
    core::LockGuard lock(closed_mutex_);
    std::erase_if(closed_, [](const Ref<Mark>& mark) { return mark->is_complete(); });
    closed_.push_back(last);
  } catch (const std::bad_alloc&) {
    wait_blocking(*last, -1);  // no room to remember it, so it is over now
  }
}

uint64_t CudaBackend::pending(Stream& stream) { return queue_of(stream).pending(); }

void CudaBackend::visit_submitted(
    const std::function<void(const core::SubmittedWork&)>& visitor) {
  std::vector<Ref<Queue>> queues = device_.waiter().queues();
  // One that was given work while it was found idle is there twice.
  const auto before = [](const Ref<Queue>& a, const Ref<Queue>& b) { return a.get() < b.get(); };
  std::sort(queues.begin(), queues.end(), before);
  queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
  for (const Ref<Queue>& queue : queues) queue->visit(visitor);
}

bool CudaBackend::poll(Ticket& ticket) {
  device_.make_current();
  return mark_of(ticket).poll();
}

double CudaBackend::elapsed_ms(Ticket& start, Ticket& end) {
  device_.require();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, mark_of(start).event(), mark_of(end).event()),
        "measuring the time between events");
  return milliseconds;
}

void CudaBackend::notify(Ticket& ticket, const core::MarkRequest& request) {
  Notice notice = notice_of(request);
  if (mark_of(ticket).add_notice(notice)) return device_.waiter().hurry();
  Mark::deliver(device_, notice);
}

bool CudaBackend::wait_blocking(Ticket& ticket, int64_t timeout_ms) {
  device_.make_current();
  Mark& mark = mark_of(ticket);
  const int64_t start = core::now_ns();
  while (!mark.poll()) {
    const int64_t passed = core::now_ns() - start;
    if (timeout_ms >= 0 && passed >= timeout_ms * 1'000'000) return false;
    if (passed < kSpinNs) {
      core::cpu_pause();
    } else if (passed < kYieldNs) {
      sched_yield();
    } else {
      rest(kRestNs);
    }
  }
  return true;
}

Status CudaBackend::loss() const {
  return device_.is_lost() ? device_.lost_status() : Status();
}

Status CudaBackend::take_fault() { return loss(); }

// ---- memory -------------------------------------------------------------------------------------

Status CudaBackend::allocate(uint64_t bytes, const std::string& label, core::MemoryPlace place,
                             uint8_t*& data) {
  if (place == core::MemoryPlace::kHost) return device_.allocate_host(bytes, label, data);
  return device_.allocate(bytes, label, data);
}

core::MemoryState CudaBackend::memory_state(core::MemoryPlace place) {
  if (place == core::MemoryPlace::kDevice) return device_.memory_state();
  const auto pages = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES));
  const uint64_t free = pages * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  return {free, 0, free};
}

void CudaBackend::free_memory(uint8_t* data, uint64_t bytes, const std::string&,
                              core::MemoryPlace place) {
  if (place == core::MemoryPlace::kDevice) return device_.free(data, bytes);
  if (!device_.is_lost()) device_.reaper().free_host(data);
}

Status CudaBackend::stage(uint64_t bytes, std::unique_ptr<core::StagedBytes>& staged) {
  if (device_.is_lost()) return device_.lost_status();
  device_.make_current();
  Status status = device_.staging().take(bytes, staged);
  if (status.ok() || status.fault().code != "CRT_QUEUE_FULL") return status;
  // Transfers that are over hold their memory until the waiter has seen it.
  const int64_t end = core::now_ns() + kYieldNs;
  while (!status.ok() && core::now_ns() < end) {
    device_.waiter().hurry();
    sched_yield();
    status = device_.staging().take(bytes, staged);
  }
  return status;
}

// ---- modules and graphs -------------------------------------------------------------------------

Status CudaBackend::load_image(const core::JsonValue& manifest, const std::string& directory,
                               const std::vector<core::KernelLayout>& layouts,
                               std::unique_ptr<core::ModuleImage>& image) {
  if (device_.is_lost()) return device_.lost_status();
  const ImageSource source{manifest, directory, runtime_->options().launch_by_graph};
  return CudaImage::load(device_, source, layouts, image);
}

Status CudaBackend::describe_kernel(core::Kernel& kernel, core::JsonWriter& json) {
  if (device_.is_lost()) return device_.lost_status();
  device_.make_current();
  const auto& entry = *static_cast<const KernelEntry*>(kernel.entry());
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, entry.kernel);
  if (error != cudaSuccess) return device_.fail(error, "describing kernel " + kernel.name());
  json.field("registers", static_cast<int64_t>(attributes.numRegs));
  json.field("sharedBytes", static_cast<uint64_t>(attributes.sharedSizeBytes));
  json.field("localBytes", static_cast<uint64_t>(attributes.localSizeBytes));
  json.field("binaryVersion", static_cast<int64_t>(attributes.binaryVersion));
  json.field("ptxVersion", static_cast<int64_t>(attributes.ptxVersion));
  return {};
}

Status CudaBackend::occupancy(core::Kernel& kernel, uint32_t threads, uint64_t shared_bytes,
                              int& blocks) {
  if (device_.is_lost()) return device_.lost_status();
  device_.make_current();
  const auto& entry = *static_cast<const KernelEntry*>(kernel.entry());
  const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, entry.kernel, static_cast<int>(threads), shared_bytes);
  return error == cudaSuccess
             ? Status()
             : device_.fail(error, "asking for the occupancy of kernel " + kernel.name());
}

Status CudaBackend::plan(const core::Graph& graph, bool node_priority,
                         std::unique_ptr<core::ExecPlan>& plan) {
  plan = std::make_unique<CudaPlan>(device_, graph, node_priority);
  return {};
}

void CudaBackend::set_node(core::Exec& exec, const core::GraphNode& node, uint32_t index) {
  device_.require();
  device_.make_current();
  static_cast<CudaPlan&>(exec.plan()).set_node(node, index);
}

Status CudaBackend::upload(Stream& stream, core::Exec& exec) {
  device_.require();
  device_.make_current();
  Queue& queue = queue_of(stream);
  queue.submit(
      {nullptr, Ref<core::Exec>(&exec), nullptr, false, exec.graph()},
      [] { return "uploading a graph"; },
      [&] {
        return cudaGraphUpload(static_cast<CudaPlan&>(exec.plan()).exec(), queue.stream());
      });
  return {};
}

Status CudaBackend::driver_dot(core::Exec& exec, bool verbose, std::string& text) {
  if (device_.is_lost()) return device_.lost_status();
  device_.make_current();
  return print_dot(device_, static_cast<CudaPlan&>(exec.plan()).graph(), verbose, text);
}

// The driver runs launches of one executable one after another, also across streams.
Ref<Ticket> CudaBackend::launch(Stream& stream, core::Exec& exec) {
  device_.require();
  device_.make_current();
  auto& plan = static_cast<CudaPlan&>(exec.plan());
  Queue& queue = queue_of(stream);
  const Ref<core::Graph> graph = exec.graph();
  plan.bind_events(*exec.graph());
  WatchPlaces places(device_.waiter(), plan.recorded_events());
  queue.submit(
      {nullptr, Ref<core::Exec>(&exec), nullptr, false, graph, plan.awaited_events()},
      [] { return "launching a graph"; },
      [&] { return cudaGraphLaunch(plan.exec(), queue.stream()); });
  plan.publish_events(*graph, places);
  return nullptr;
}

}  // namespace cuda_runtime::cuda
