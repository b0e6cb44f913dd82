// createFile … copyFile. Opening and copying happen on libuv's threads.
#include "core/base/failure.h"
#include "core/base/hold_note.h"
#include "core/file/mapped_file.h"
#include "core/memory/buffer.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Buffer;
using core::CompletionSink;
using core::MappedFile;
using core::Ref;
using core::Status;

constexpr const char* kFileWork = "file use";

/// Runs a step of a file and posts how it went. It holds all that the step touches, so a file or a
/// host buffer may be disposed meanwhile; an environment that ends waits for it. What it held is
/// given back before the post: memory that was disposed is free when the promise settles.
class FileWork : public Napi::AsyncWorker {
 public:
  FileWork(const Arguments& in, const char* api, Ref<MappedFile> file, int64_t token)
      : Napi::AsyncWorker(in.env(), api),
        api_(api),
        sink_(in.sink()),
        token_(token),
        file_(std::move(file)),
        note_(kFileWork, *file_) {}

  static void start(std::unique_ptr<FileWork> work) {
    work->Queue();
    work.release();  // deletes itself when it is done
  }

 protected:
  virtual Status step(MappedFile& file) = 0;

  const char* const api_;
  const Ref<CompletionSink> sink_;
  const int64_t token_;

 private:
  Ref<MappedFile> file_;
  core::HoldNote note_;

  void Execute() override {
    try {
      const Status status = attempt();
      sink_->post(token_, status.ok() ? std::string() : core::to_json(status.fault(), api_));
    } catch (...) {
      sink_->post(token_, core::kOutOfMemoryText);  // not even for the message
    }
  }

  Status attempt() {
    try {
      const Ref<MappedFile> file = std::move(file_);
      const core::HoldNote note = std::move(note_);
      return step(*file);
    } catch (...) {
      return core::status_of_exception();
    }
  }
};

class OpenWork : public FileWork {
 public:
  using FileWork::FileWork;

 private:
  Status step(MappedFile& file) override { return file.open(); }
};

struct Range {
  uint64_t offset;
  uint64_t bytes;
};

/// Into a host buffer, or, without one, into memory that `takeStaged` gives out: the memory of
/// other array buffers may go away while a thread writes to it.
class CopyWork : public FileWork {
 public:
  CopyWork(const Arguments& in, const char* api, Ref<MappedFile> file, int64_t token, Range from,
           Ref<Buffer> host, uint64_t host_offset)
      : FileWork(in, api, std::move(file), token),
        from_(from),
        host_(std::move(host)),
        host_offset_(host_offset) {
    if (host_) host_note_ = core::HoldNote(kFileWork, *host_);
  }

 private:
  Status step(MappedFile& file) override {
    const Ref<Buffer> host = std::move(host_);
    const core::HoldNote note = std::move(host_note_);
    if (host) return file.copy(from_.offset, host->data() + host_offset_, from_.bytes);
    auto staged = std::make_unique<core::HeapBytes>(from_.bytes);
    Status status = file.copy(from_.offset, staged->data(), from_.bytes);
    if (status.ok()) sink_->stage(token_, std::move(staged));
    return status;
  }

  const Range from_;
  Ref<Buffer> host_;
  core::HoldNote host_note_;
  const uint64_t host_offset_;
};

Napi::Value create_file(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.handle_of(core::make_ref<MappedFile>(in.string(0), in.boolean(1)));
}

Napi::Value open_file(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<MappedFile> file = in.record<MappedFile>(0);
  FileWork::start(std::make_unique<OpenWork>(in, api_of(info), std::move(file),
                                             in.integer(1, "token")));
  return in.undefined();
}

Napi::Value file_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const Ref<MappedFile> file = in.record<MappedFile>(0);
  core::JsonWriter json;
  json.begin_object();
  json.field("bytes", file->bytes());
  json.field("reason", file->reason());
  json.end_object();
  return in.text(json.take());
}

Napi::Value copy_file(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Ref<MappedFile> file = in.record<MappedFile>(0);
  const Range from{in.size(1, "offset"), in.size(2, "bytes")};
  in.finish(file->check_range(from.offset, from.bytes));
  Ref<Buffer> host;
  uint64_t host_offset = 0;
  if (in.handle(3) != 0) {
    host = in.memory(3);
    host_offset = in.size(4, "hostOffset");
    const bool fits = host->kind() == core::Kind::kHostBuffer && host_offset <= host->bytes() &&
                      from.bytes <= host->bytes() - host_offset;
    if (!fits) in.finish(Status::argument("the range does not lie in a host buffer", "Fix the call"));
  }
  FileWork::start(std::make_unique<CopyWork>(in, api_of(info), std::move(file),
                                             in.integer(5, "token"), from, std::move(host),
                                             host_offset));
  return in.undefined();
}

}  // namespace

void export_file(Napi::Object& exports) {
  add_method<create_file>(exports, "createFile", "MappedFile.open");
  add_method<open_file>(exports, "openFile", "MappedFile.open");
  add_method<file_info>(exports, "fileInfo", "file.describe");
  add_method<copy_file>(exports, "copyFile", "file.copy");
}

}  // namespace cuda_runtime::napi
