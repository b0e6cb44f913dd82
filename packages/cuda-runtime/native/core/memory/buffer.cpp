#include "core/memory/buffer.h"

#include "core/check/access_history.h"
#include "core/runtime.h"

namespace cuda_runtime::core {

Buffer::Buffer(Kind kind, Ref<Runtime> runtime, uint8_t* data, uint64_t bytes, std::string label)
    : Record(kind),
      runtime_(std::move(runtime)),
      data_(data),
      bytes_(bytes),
      label_(std::move(label)) {
  runtime_->note_memory(kind == Kind::kHostBuffer, static_cast<int64_t>(bytes));
  runtime_->live().add(*this);
}

Buffer::~Buffer() {
  runtime_->backend().free_memory(
      data_, bytes_, label_,
      kind() == Kind::kHostBuffer ? MemoryPlace::kHost : MemoryPlace::kDevice);
  runtime_->live().remove(*this);
  runtime_->note_memory(kind() == Kind::kHostBuffer, -static_cast<int64_t>(bytes_));
}

std::string Buffer::describe() const {
  const std::string size = std::to_string(bytes_) + " bytes";
  return label_.empty() ? "a buffer of " + size : "buffer " + label_ + " (" + size + ")";
}

}  // namespace cuda_runtime::core
