// alloc … notify: buffers and what moves their bytes.
#include "core/launch.h"
#include "core/graph/capture_memory.h"
#include "core/graph/capture_rules.h"
#include "core/runtime.h"
#include "napi/arguments.h"
#include "napi/functions.h"

namespace cuda_runtime::napi {
namespace {

using core::Buffer;
using core::Stream;

Napi::Value alloc(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  core::Ref<Buffer> buffer;
  in.finish(core::allocate(*stream, in.size(1, "bytes"), in.string(2), buffer));
  return in.handle_of(buffer);
}

Napi::Value capture_alloc(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  core::Ref<core::GraphBuffer> buffer;
  in.finish(core::capture_alloc(*stream, in.size(1, "bytes"), in.string(2), buffer));
  return in.handle_of(buffer);
}

Napi::Value capture_free(const Napi::CallbackInfo& info) {
  Arguments in(info);
  in.finish(core::capture_free(*in.record<Stream>(0), in.memory(1)));
  return in.undefined();
}

Napi::Value buffer_info(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Buffer> buffer = in.memory(0);
  core::JsonWriter json;
  json.begin_object();
  json.field("bytes", buffer->bytes());
  json.field("label", buffer->label());
  json.end_object();
  return in.text(json.take());
}

/// The array buffer is the memory itself; it keeps the record alive until it is collected, or until
/// `release` detaches it.
Napi::Value host_array(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Buffer> buffer = in.memory(0);
  auto& arrays = in.environment().host_arrays;
  if (buffer->kind() != core::Kind::kHostBuffer || arrays.count(in.handle(0)) != 0) {
    // V8 ends the process when two array buffers name the same memory.
    in.finish(core::Status::argument("it is no host buffer, or has its array",
                                     "Ask once for the array of a host buffer"));
  }
  Napi::ArrayBuffer array;
  core::Ref<Buffer>* kept = nullptr;
  if (buffer->bytes() == 0) {
    array = Napi::ArrayBuffer::New(info.Env(), 0);
  } else {
    auto reference = std::make_unique<core::Ref<Buffer>>(buffer);
    kept = reference.get();
    array = Napi::ArrayBuffer::New(
        info.Env(), buffer->data(), buffer->bytes(),
        [](Napi::BasicEnv, void*, core::Ref<Buffer>* memory) { delete memory; }, kept);
    reference.release();  // the finalizer's now
  }
  arrays.emplace(in.handle(0), HostArray{Napi::Weak(array), kept});
  return array;
}

Napi::Value alloc_host(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<core::Runtime> runtime = in.record<core::Runtime>(0);
  core::Ref<Buffer> buffer;
  in.finish(core::allocate_host(*runtime, in.size(1, "bytes"), buffer));
  return in.handle_of(buffer);
}

Napi::Value write(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const Napi::Uint8Array source = in.bytes(3, "source");
  in.finish(core::write(*stream, {in.memory(1), in.size(2, "byteOffset")}, source.Data(),
                        source.ByteLength()));
  return in.undefined();
}

Napi::Value read(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::read(*stream, {in.memory(1), in.size(2, "byteOffset")}, in.size(3, "bytes"),
                       in.sink(), in.integer(4, "token")));
  return in.undefined();
}

Napi::Value take_staged(const Napi::CallbackInfo& info) {
  Arguments in(info);
  Napi::Uint8Array destination = in.bytes(1, "destination");
  const bool taken = in.environment().completions->take_staged(
      in.integer(0, "token"), destination.Data(), destination.ByteLength());
  if (!taken) {
    in.finish(core::Status::argument("no bytes of the size of `destination` are staged for it",
                                     "Take the bytes of a read once, after it has completed"));
  }
  return in.undefined();
}

Napi::Value copy(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::copy(*stream, {in.memory(1), in.size(2, "toOffset")},
                       {in.memory(3), in.size(4, "fromOffset")}, in.size(5, "bytes")));
  return in.undefined();
}

Napi::Value fill(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  const auto byte = static_cast<uint8_t>(in.integer(3, "byte"));
  in.finish(core::fill(*stream, {in.memory(1), in.size(2, "byteOffset")}, byte,
                       in.size(4, "bytes")));
  return in.undefined();
}

Napi::Value notify(const Napi::CallbackInfo& info) {
  Arguments in(info);
  const core::Ref<Stream> stream = in.record<Stream>(0);
  in.finish(core::notify(*stream, in.sink(), in.integer(1, "token")));
  return in.undefined();
}

}  // namespace

void export_memory(Napi::Object& exports) {
  add_method<alloc>(exports, "alloc", "device.alloc");
  add_method<capture_alloc>(exports, "captureAlloc", "device.alloc");
  add_method<capture_free>(exports, "captureFree", "stream.free");
  add_method<buffer_info>(exports, "bufferInfo", "buffer.info");
  add_method<alloc_host>(exports, "allocHost", "device.allocHost");
  add_method<host_array>(exports, "hostArray", "device.allocHost");
  add_method<write>(exports, "write", "stream.write");
  add_method<read>(exports, "read", "stream.read");
  add_method<take_staged>(exports, "takeStaged", "stream.read");
  add_method<copy>(exports, "copy", "stream.copy");
  add_method<fill>(exports, "fill", "stream.fill");
  add_method<notify>(exports, "notify", "stream.notify");
}

}  // namespace cuda_runtime::napi
