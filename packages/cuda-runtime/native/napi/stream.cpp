// createStream … streamWaitStream.
#include "core/stream/stream.h"

#include <algorithm>

#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Runtime;
using core::Stream;

Napi::Value create_stream(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.check_device(1);
  const int64_t priority = in.integer(2, "priority");
  const int clamped = static_cast<int>(std::clamp<int64_t>(priority, -1000, 1000));
  return in.handle_of(runtime->create_stream(clamped, in.boolean(3), in.string(4)));
}

Napi::Value legacy_stream(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.check_device(1);
  return in.handle_of(runtime->legacy_stream());
}

Napi::Value stream_id(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return Napi::BigInt::New(info.Env(), in.record<Stream>(0)->id());
}

Napi::Value stream_priority(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.number(in.record<Stream>(0)->priority());
}

Napi::Value stream_is_idle(const Napi::CallbackInfo& info) {
  Arguments in(info);
  bool idle = false;
  in.finish(in.record<Stream>(0)->is_idle(idle));
  return Napi::Boolean::New(info.Env(), idle);
}

Napi::Value stream_pending(const Napi::CallbackInfo& info) {
  Arguments in(info);
  return in.number(static_cast<double>(in.record<Stream>(0)->pending()));
}

Napi::Value stream_capture_status(const Napi::CallbackInfo& info) {
  Arguments in(info);
  int status = 0;
  uint64_t id = 0;
  in.finish(in.record<Stream>(0)->capture_status(status, id));
  return in.number(status);
}

Napi::Value stream_capture_id(const Napi::CallbackInfo& info) {
  Arguments in(info);
  int status = 0;
  uint64_t id = 0;
  in.finish(in.record<Stream>(0)->capture_status(status, id));
  return Napi::BigInt::New(info.Env(), id);
}

Napi::Value stream_synchronize(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(stream->synchronize(in.sink(), in.integer(1, "token")));
  return in.undefined();
}

Napi::Value stream_synchronize_sync(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(stream->synchronize_blocking(in.integer(1, "timeoutMs")));
  return in.undefined();
}

Napi::Value device_synchronize(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.check_device(1);
  in.finish(core::synchronize_device(*runtime, in.sink(), in.integer(2, "token")));
  return in.undefined();
}

Napi::Value device_synchronize_sync(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Runtime> runtime = in.record<Runtime>(0);
  in.check_device(1);
  in.finish(core::synchronize_device(*runtime));
  return in.undefined();
}

Napi::Value stream_wait_stream(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const core::Ref<Stream> other = in.record<Stream>(1);
  in.finish(stream->wait_stream(*other));
  return in.undefined();
}

}  // namespace

void export_stream(Napi::Object& exports) {
  add_method<create_stream>(exports, "createStream", "device.createStream");
  add_method<legacy_stream>(exports, "legacyStream", "device.legacyStream");
  add_method<stream_id>(exports, "streamId", "stream.id");
  add_method<stream_priority>(exports, "streamPriority", "stream.priority");
  add_method<stream_is_idle>(exports, "streamIsIdle", "stream.isIdle");
  add_method<stream_pending>(exports, "streamPending", "stream.pending");
  add_method<stream_capture_status>(exports, "streamCaptureStatus", "stream.captureStatus");
  add_method<stream_capture_id>(exports, "streamCaptureId", "stream.captureId");
  add_method<stream_synchronize>(exports, "streamSynchronize", "stream.synchronize");
  add_method<stream_synchronize_sync>(exports, "streamSynchronizeSync", "stream.synchronizeSync");
  add_method<device_synchronize>(exports, "deviceSynchronize", "device.synchronize");
  add_method<device_synchronize_sync>(exports, "deviceSynchronizeSync", "device.synchronizeSync");
  add_method<stream_wait_stream>(exports, "streamWaitStream", "stream.waitStream");
}

}  // namespace cuda_runtime::napi
