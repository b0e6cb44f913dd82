// Starting a kernel: checks the configuration and the buffers, then submits.
#pragma once

#include "core/buffer_argument.h"
#include "core/graph/nodes/condition.h"
#include "core/stream/launch_events.h"
#include "core/stream/stream.h"

namespace cuda_runtime::core {

/// A condition for a field of type uint64_t.
struct ConditionField {
  Ref<GraphCondition> condition;
  uint32_t field = 0;
};

/// `params` is the struct with zeros where pointers and conditions go.
struct LaunchRequest {
  Ref<Stream> stream;  // where to; null for a node
  Ref<Kernel> kernel;
  LaunchConfig config;
  InlineVector<BufferArgument, 8> buffers;
  std::vector<ConditionField> conditions;  // in graphs only
  LaunchEvents events;                     // on streams only
  const uint8_t* params = nullptr;
  uint32_t params_bytes = 0;
};

/// Checks the request and makes what a stream or a node does. Success takes kernel and buffers out
/// of the request; a refusal leaves it as it was.
Status make_kernel(Runtime& runtime, LaunchRequest& request, Ref<Work>& work);
Status launch(LaunchRequest& request);

/// Memory for work on the stream; legal while capturing, and then retained by the nodes that use it
/// (L8). Without guards refused as CUDA refuses it (CU11).
Status allocate(Stream& stream, uint64_t bytes, std::string label, Ref<Buffer>& buffer);
/// Memory of the host for copies. Without guards refused as CUDA refuses it (CU09).
Status allocate_host(Runtime& runtime, uint64_t bytes, Ref<Buffer>& buffer);

/// A copy or fill: a range of a buffer.
struct Range {
  Ref<Buffer> buffer;
  uint64_t offset = 0;
};

Status make_copy(Runtime& runtime, const Range& to, const Range& from, uint64_t bytes,
                 Ref<Work>& work);
Status make_fill(Runtime& runtime, const Range& to, uint8_t byte, uint64_t bytes, Ref<Work>& work);

Status copy(Stream& stream, const Range& to, const Range& from, uint64_t bytes);
Status fill(Stream& stream, const Range& to, uint8_t byte, uint64_t bytes);
/// Takes the bytes before it returns.
Status write(Stream& stream, const Range& to, const uint8_t* source, uint64_t bytes);
/// Stages the bytes at the sink, then posts the token.
Status read(Stream& stream, const Range& from, uint64_t bytes, Ref<CompletionSink> sink,
            int64_t token);
/// Runs the function on the callback thread; the stream waits for it.
Status host(Stream& stream, Ref<HostFunction> function);
Status make_host(Runtime& runtime, Ref<HostFunction> function, Ref<Work>& work);
/// Posts the token when the stream reaches this point, in each replay if it is recorded.
Status notify(Stream& stream, Ref<CompletionSink> sink, int64_t token);

}  // namespace cuda_runtime::core
