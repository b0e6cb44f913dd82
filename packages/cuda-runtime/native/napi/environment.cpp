#include "napi/environment.h"

#include <chrono>
#include <cstring>

#include "core/base/exported_records.h"
#include "core/base/failure.h"
#include "core/graph/capture.h"

namespace cuda_runtime::napi {
namespace {

constexpr size_t kBlockBytes = 65'536;  // commandLayout.bytes

std::atomic<uint64_t> next_environment{1};

// A callback threw: the same as an exception in a timer.
void report_exception(napi_env env) {
  napi_value exception = nullptr;
  napi_get_and_clear_last_exception(env, &exception);
  napi_fatal_exception(env, exception);
}

}  // namespace

// ---- completions --------------------------------------------------------------------------------

void CompletionQueue::open(Napi::Env env, Napi::Function handler) {
  napi_value name = Napi::String::New(env, "cuda-runtime completions");
  napi_threadsafe_function function = nullptr;
  const napi_status status = napi_create_threadsafe_function(
      env, handler, nullptr, name, 0, 1, nullptr, nullptr, this, deliver, &function);
  if (status != napi_ok) throw Napi::Error::New(env, "initialize: no thread-safe function");
  napi_unref_threadsafe_function(env, function);
  core::LockGuard lock(mutex_);
  function_ = function;
}

void CompletionQueue::close() {
  // Declared before the lock: what goes with them (a runtime, tickets) ends without it.
  std::vector<Item> items;
  decltype(staged_) staged;
  decltype(expected_) expected;
  core::LockGuard lock(mutex_);
  if (function_ == nullptr) return;
  napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
  items.swap(items_);
  staged.swap(staged_);
  expected.swap(expected_);
}

void CompletionQueue::keep_alive(Napi::Env env, bool on) {
  core::LockGuard lock(mutex_);
  if (function_ == nullptr) return;
  if (on) {
    napi_ref_threadsafe_function(env, function_);
  } else {
    napi_unref_threadsafe_function(env, function_);
  }
}

// The caller holds the mutex. One wake-up serves all items that arrive before it is delivered.
void CompletionQueue::schedule() {
  if (scheduled_ || items_.empty()) return;
  scheduled_ = napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking) == napi_ok;
}

// The caller holds the mutex; false when there is no memory for it.
bool CompletionQueue::add(int64_t token, std::string& status) {
  try {
    items_.emplace_back();
  } catch (const std::bad_alloc&) {
    return false;
  }
  items_.back() = {token, std::move(status)};
  return true;
}

// Without memory a completion waits for some: a promise that never settles would be worse.
void CompletionQueue::post(int64_t token, std::string status) {
  core::LockGuard lock(mutex_);
  while (function_ != nullptr && !add(token, status)) {
    mutex_.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    mutex_.lock();
  }
  if (function_ != nullptr) schedule();
}

void CompletionQueue::expect(int64_t token, core::Ref<core::Runtime> runtime,
                             core::Ref<core::Ticket> ticket) {
  core::LockGuard lock(mutex_);
  if (function_ == nullptr) return;
  expected_.emplace(token, Expected{std::move(runtime), std::move(ticket)});
}

// What JavaScript submits after it was told comes after what it was told of.
void CompletionQueue::order_host(int64_t token) {
  for (;;) {
    Expected expected;
    {
      core::LockGuard lock(mutex_);
      const auto found = expected_.find(token);
      if (found == expected_.end()) return;
      expected = std::move(found->second);
      expected_.erase(found);
    }
    try {
      expected.runtime->host_waited(*expected.ticket);
    } catch (const std::bad_alloc&) {
      // The checker knows less then: it may report a race too many, never one too few.
    }
  }
}

void CompletionQueue::stage(int64_t token, std::unique_ptr<core::StagedBytes> bytes) {
  core::LockGuard lock(mutex_);
  if (function_ != nullptr) staged_[token] = std::move(bytes);
}

bool CompletionQueue::take_staged(int64_t token, uint8_t* destination, uint64_t size) {
  std::unique_ptr<core::StagedBytes> staged;
  {
    core::LockGuard lock(mutex_);
    const auto found = staged_.find(token);
    if (found == staged_.end() || found->second->bytes() != size) return false;
    staged = std::move(found->second);
    staged_.erase(found);
  }
  if (size > 0) std::memcpy(destination, staged->data(), size);
  return true;
}

bool CompletionQueue::take_text(int64_t token, std::string& text) {
  core::LockGuard lock(mutex_);
  const auto found = staged_.find(token);
  if (found == staged_.end()) return false;
  const core::StagedBytes& bytes = *found->second;
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.bytes());
  staged_.erase(found);
  return true;
}

// The JSON of a fault for which its own thread had no memory.
constexpr std::string_view kOutOfMemoryJson =
    R"({"code":"CRT_OOM","api":"completion","number":2,"detail":"the process has no memory left )"
    R"(for the operation","hint":"Dispose buffers or use a smaller batch","stream":"",)"
    R"("captureId":"0"})";

void CompletionQueue::deliver(napi_env env, napi_value handler, void* context, void*) {
  auto& queue = *static_cast<CompletionQueue*>(context);
  if (env == nullptr || handler == nullptr) return;  // the environment ends
  std::vector<Item> items;
  {
    core::LockGuard lock(queue.mutex_);
    queue.scheduled_ = false;
    items.swap(queue.items_);
  }
  napi_value receiver = nullptr;
  napi_get_undefined(env, &receiver);
  for (const Item& item : items) {
    queue.order_host(item.token);
    napi_handle_scope scope = nullptr;
    napi_open_handle_scope(env, &scope);
    napi_value arguments[2];
    napi_create_int64(env, item.token, &arguments[0]);
    const std::string_view text =
        item.status == core::kOutOfMemoryText ? kOutOfMemoryJson : std::string_view(item.status);
    napi_create_string_utf8(env, text.data(), text.size(), &arguments[1]);
    const napi_status status = napi_call_function(env, receiver, handler, 2, arguments, nullptr);
    napi_close_handle_scope(env, scope);
    if (status == napi_pending_exception) report_exception(env);
  }
}

// ---- environment --------------------------------------------------------------------------------

Environment::Environment(Napi::Env)
    : completions(core::make_ref<CompletionQueue>()),
      tasks(core::make_ref<TaskResults>()),
      id_(next_environment.fetch_add(1)),
      thread_(std::this_thread::get_id()) {}

Napi::Value Environment::initialize(Napi::Env env, Napi::Function handler) {
  if (block != nullptr) throw Napi::Error::New(env, "initialize: called twice in an environment");
  Napi::ArrayBuffer memory = Napi::ArrayBuffer::New(env, kBlockBytes);
  block = static_cast<const uint32_t*>(memory.Data());
  block_reference_ = Napi::Persistent(memory);
  completions->open(env, handler);
  // Registered after the thread-safe function, so that it runs before that one's own clean-up:
  // no post may reach a function that is gone.
  env.AddCleanupHook([this] { end(); });
  return memory;
}

core::Handle Environment::add(core::Ref<core::Record> record, bool is_imported) {
  if (record->kind() == core::Kind::kRuntime) {
    runtimes.emplace_back(static_cast<core::Runtime*>(record.get()));
  }
  return core::HandleTable::instance().add(std::move(record), id_, is_imported);
}

std::string Environment::export_record(core::Ref<core::Record> record) {
  return core::ExportedRecords::instance().add(std::move(record), id_);
}

// The order of cuda-runtime.md L17.
void Environment::end() {
  completions->close();
  tasks->close();
  try {
    for (const core::Ref<core::Runtime>& runtime : runtimes) {
      runtime->backend().device_loss().forget(*completions);
      core::LockGuard lock(runtime->mutex());
      core::abort_captures_of_thread(*runtime, thread_);
    }
    core::HandleTable::instance().remove_owner(id_);
    core::ExportedRecords::instance().remove_owner(id_);
  } catch (const std::bad_alloc&) {
    // What is left stays alive: a leak, in a process without memory.
  }
  runtimes.clear();
}

}  // namespace cuda_runtime::napi
