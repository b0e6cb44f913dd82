// What an operation does, without where and when: the same object is submitted to a stream or
// becomes a graph node. Immutable once submitted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/launch_config.h"
#include "core/memory/buffer.h"
#include "core/memory/staging.h"
#include "core/module.h"
#include "core/origin.h"
#include "core/stream/completion_sink.h"

namespace cuda_runtime::core {

class GraphCondition;
class Conditional;
class Event;
class Graph;
class GraphBuffer;
class HostFunction;
struct LaunchEvents;

enum class WorkKind : uint8_t {
  kKernel,
  kCopy,
  kFill,
  kWrite,        // bytes taken from JavaScript at the call
  kRead,         // bytes staged for JavaScript
  kNotify,       // posts a token, holds nothing
  kEventRecord,  // external record, graphs only
  kEventWait,    // external wait, graphs only
  kHost,         // a native function on the callback thread
  kEmpty,        // joins edges, graphs only
  kChild,        // a copy of a graph, graphs only
  kConditional,  // bodies that a value chooses, graphs only
  kAlloc,        // graph-owned memory begins, graphs only
  kFree,         // and ends
};

inline constexpr size_t kWorkKinds = static_cast<size_t>(WorkKind::kFree) + 1;

const char* work_kind_name(WorkKind kind);

/// The parameter struct of a launch; most fit without an allocation.
class ParameterBlock {
 public:
  uint8_t* resize(uint32_t bytes) {
    bytes_ = bytes;
    if (bytes > sizeof inline_) heap_ = std::make_unique<uint64_t[]>((bytes + 7) / 8);
    return data();
  }
  uint8_t* data() { return heap_ ? reinterpret_cast<uint8_t*>(heap_.get()) : inline_; }
  const uint8_t* data() const {
    return heap_ ? reinterpret_cast<const uint8_t*>(heap_.get()) : inline_;
  }
  uint32_t bytes() const { return bytes_; }

 private:
  // First, beside the first bytes: few structs use all of the room.
  std::unique_ptr<uint64_t[]> heap_;
  uint32_t bytes_ = 0;
  alignas(16) uint8_t inline_[192];
};

/// A field of a parameter struct that names a condition; every executable has its own handle for
/// it.
struct ConditionArgument {
  Ref<GraphCondition> condition;
  uint32_t offset = 0;  // bytes from the start of the struct
};

struct Work : public RefCounted {
  explicit Work(WorkKind work_kind);
  ~Work() override;

  const WorkKind kind;
  uint8_t fill_byte = 0;
  Ref<Kernel> kernel;
  LaunchConfig config;
  ParameterBlock params;
  InlineVector<Access, 6> accesses;  // retains the buffers; copy: destination, source
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint64_t bytes = 0;
  std::unique_ptr<StagedBytes> staged;  // kWrite
  Ref<CompletionSink> sink;           // kRead, kNotify
  int64_t token = 0;
  Ref<Event> event;  // kEventRecord, kEventWait
  std::vector<ConditionArgument> conditions;  // kKernel
  std::unique_ptr<LaunchEvents> events;       // kKernel, until submitted
  Ref<HostFunction> host;                     // kHost
  Ref<Graph> child;                           // kChild
  Ref<Conditional> conditional;               // kConditional
  Ref<GraphBuffer> memory;                    // kAlloc, kFree
  const Origin origin;                        // where this thread submitted it
  uint64_t traced = 0;  // number in the trace; set before the submission, 0 for nodes

  bool is_programmatic() const {
    return kind == WorkKind::kKernel && (config.flags & kProgrammatic) != 0;
  }
  /// Name of the kernel or host function, or what kind of operation it is.
  std::string label() const;
};

}  // namespace cuda_runtime::core
