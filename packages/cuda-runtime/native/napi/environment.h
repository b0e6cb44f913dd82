// What one JavaScript environment (main thread or worker) has: its command block, its completions,
// and an id by which its handles are released when it ends.
#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/handle_table.h"
#include "core/base/hold_note.h"
#include "core/base/mutex.h"
#include "core/runtime.h"
#include "core/stream/completion_sink.h"
#include "napi/task_thread.h"

namespace cuda_runtime::napi {

/// Collects completions of foreign threads and calls the environment's handler on its own thread.
class CompletionQueue : public core::CompletionSink {
 public:
  void open(Napi::Env env, Napi::Function handler);
  /// After this, posts are dropped.
  void close();
  void keep_alive(Napi::Env env, bool on);

  void post(int64_t token, std::string status) override;
  void stage(int64_t token, std::unique_ptr<core::StagedBytes> bytes) override;
  void expect(int64_t token, core::Ref<core::Runtime> runtime,
              core::Ref<core::Ticket> ticket) override;
  /// False when the token has no staged bytes of this size.
  bool take_staged(int64_t token, uint8_t* destination, uint64_t size);
  /// The staged bytes of a token as text; false when there are none.
  bool take_text(int64_t token, std::string& text);

 private:
  struct Item {
    int64_t token = 0;
    std::string status;
  };
  struct Expected {
    core::Ref<core::Runtime> runtime;
    core::Ref<core::Ticket> ticket;
  };
  static void deliver(napi_env env, napi_value handler, void* context, void* data);
  bool add(int64_t token, std::string& status);
  void schedule();
  void order_host(int64_t token);

  core::Mutex mutex_;
  napi_threadsafe_function function_ = nullptr;  // null: closed
  bool scheduled_ = false;
  std::vector<Item> items_;
  std::unordered_map<int64_t, std::unique_ptr<core::StagedBytes>> staged_;
  std::unordered_multimap<int64_t, Expected> expected_;  // race checker only
};

/// An array's reference to the memory of a host buffer.
struct ArrayMemory {
  core::Ref<core::Buffer> buffer;
  core::HoldNote note;
};

/// The array buffer of a host buffer.
struct HostArray {
  Napi::Reference<Napi::ArrayBuffer> array;
  // There as long as the array is, and has the memory; null when the buffer is empty.
  ArrayMemory* kept;
};

/// CRT_OOM when Node makes no array of so many bytes; `most` is its `buffer.constants.MAX_LENGTH`.
inline core::Status check_array_bytes(core::Runtime& runtime, uint64_t bytes, uint64_t most) {
  if (bytes <= most) return {};
  core::Status status = core::Status::error(
      "CRT_OOM", core::kMemoryAllocation,
      "a host buffer of " + std::to_string(bytes) + " bytes is longer than the " +
          std::to_string(most) + " of `buffer.constants.MAX_LENGTH`, and its memory is one array",
      "Use several host buffers");
  runtime.add_memory_facts(status, bytes, core::MemoryPlace::kHost);
  return status;
}

class Environment {
 public:
  explicit Environment(Napi::Env env);

  static Environment& of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }

  Napi::Value initialize(Napi::Env env, Napi::Function handler);
  core::Handle add(core::Ref<core::Record> record, bool is_imported = false);
  /// Unique in the process.
  uint64_t id() const { return id_; }
  /// A token by which another environment can have the record, while this one lives.
  std::string export_record(core::Ref<core::Record> record);

  core::Ref<CompletionQueue> completions;
  core::Ref<TaskResults> tasks;  // of this environment, on the task thread or over
  const uint32_t* block = nullptr;  // the command block
  // Array buffers of host buffers, to be detached when those are disposed.
  std::unordered_map<core::Handle, HostArray> host_arrays;
  // Runtimes opened here, for ending this thread's captures.
  std::vector<core::Ref<core::Runtime>> runtimes;

 private:
  void end();

  const uint64_t id_;
  const std::thread::id thread_;
  Napi::Reference<Napi::ArrayBuffer> block_reference_;
};

}  // namespace cuda_runtime::napi
