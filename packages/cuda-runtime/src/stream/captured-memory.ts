import { wrongKind, wrongRuntime } from '../arguments/faults.js';
import type { DeviceBuffer, Stream, Tensor } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import type { NativeGraph } from '../graph/graph.js';
import { NativeBuffer } from '../memory/buffer.js';
import { checkFreesAll, GraphBuffer } from '../memory/graph-buffer.js';
import { TensorView } from '../memory/tensor.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';

// What an open capture frees, by its id: a capture that gives no graph frees nothing.
const freed = new Map<bigint, GraphBuffer[]>();

/** `stream.free`. */
export function free(stream: Stream, memory: Tensor | DeviceBuffer): void {
  const api = 'stream.free';
  if (!(memory instanceof TensorView || memory instanceof NativeBuffer)) {
    throw wrongKind(api, 'memory', memory, 'a buffer');
  }
  const buffer = memory instanceof TensorView ? memory.buffer : memory.whole;
  if (buffer.device.runtime !== stream.runtime) throw wrongRuntime(api, 'memory', stream.runtime);
  if (!(buffer instanceof GraphBuffer)) {
    const detail = '`memory` is an ordinary buffer, expected memory that a graph allocates';
    const hint = 'End it by `dispose`, or allocate it with `graphOwned` inside the capture';
    throw new ArgumentError({ api, number: 1, detail, hint });
  }
  const bytes = memory instanceof TensorView ? memory.spanBytes : memory.bytes;
  checkFreesAll(api, 'memory', { byteOffset: memory.byteOffset, bytes }, buffer);
  const handle = stream.submit(api);
  guarded(() => environment().binding.captureFree(handle, memory.use(api)));
  buffer.freeBy('capture');
  const id = stream.captureId ?? 0n;
  const known = freed.get(id);
  if (known) known.push(buffer);
  else freed.set(id, [buffer]);
}

/**
 * A capture is over: with a graph, its nodes free; without, the buffers are their owners' again.
 */
export function settleFreed(captureId: bigint | undefined, graph?: NativeGraph): void {
  const buffers = freed.get(captureId ?? 0n) ?? [];
  freed.delete(captureId ?? 0n);
  for (const buffer of buffers) buffer.freeBy(graph);
}
