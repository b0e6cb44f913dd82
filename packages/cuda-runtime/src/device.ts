import { constants } from 'node:buffer';
import { checkFlag, checkFunction, checkText, wrongKind, wrongStream } from './arguments/faults.js';
import { checkOptions, checkSignalOnly, type OptionNames } from './arguments/options.js';
import type {
  AllocOptions,
  CaptureOptions,
  Device,
  DeviceBuffer,
  Graph,
  OnStream,
  Runtime,
  Stream,
} from './contract.js';
import { type DeviceInfo, parseFreeBytes } from './device-info.js';
import { notTheObject } from './errors/not-the-object.js';
import { captureGraph } from './graph/capture.js';
import { NativeGraph } from './graph/graph.js';
import type { DeviceLimits } from './limits.js';
import { NativeBuffer } from './memory/buffer.js';
import { GraphBuffer } from './memory/graph-buffer.js';
import { HostBuffer } from './memory/host-buffer.js';
import type { Handle } from './native/binding.js';
import { environment } from './native/environment.js';
import { guarded } from './native/guarded.js';
import { runTask } from './native/task.js';
import { checkRacesBehind } from './races.js';
import { Event } from './stream/event.js';
import type { QueueOptions } from './stream/pending-limit.js';
import { NativeStream, type StreamTerms } from './stream/stream.js';
import type { StreamOptions } from './stream/stream-options.js';

const streamNames: OptionNames<StreamOptions> = { priority: true, blocking: true, name: true };
const eventNames: OptionNames<{ timing?: boolean }> = { timing: true };
const allocNames: OptionNames<AllocOptions> = { stream: true, label: true, graphOwned: true };
const captureNames: OptionNames<CaptureOptions & OnStream> = {
  stream: true,
  mode: true,
  into: true,
};

// The memory of a host buffer is one array, and Node makes none that is longer.
const longestArray = constants.MAX_LENGTH;

/** The one implementation of `Device`. */
export class NativeDevice implements Device {
  readonly runtime: Runtime;
  readonly index: number;
  readonly name: string;
  readonly uuid: string;
  readonly sm: string;
  readonly limits: DeviceLimits;
  readonly priorityRange: { readonly least: number; readonly greatest: number };
  readonly #owned: NativeStream[] = [];
  readonly #queue: QueueOptions;
  #legacy: Stream | undefined;

  constructor(runtime: Runtime, index: number, info: DeviceInfo, queue: QueueOptions) {
    this.#queue = queue;
    this.runtime = runtime;
    this.index = index;
    this.name = info.name;
    this.uuid = info.uuid;
    this.sm = info.limits.sm;
    this.limits = info.limits;
    this.priorityRange = info.priorityRange;
  }

  get freeBytes(): number {
    const runtime = this.use('device.freeBytes');
    return parseFreeBytes(guarded(() => environment().binding.deviceInfo(runtime, this.index)));
  }

  get legacyStream(): Stream {
    const runtime = this.use('device.legacyStream');
    this.#legacy ??= this.#adopt(
      guarded(() => environment().binding.legacyStream(runtime, this.index)),
      'legacy',
      'runtime',
    );
    return this.#legacy;
  }

  createStream(options: StreamOptions = {}): Stream {
    return this.makeStream(options, 'user');
  }

  /** A stream for a user or for the runtime itself. */
  makeStream(options: StreamOptions, owner: StreamTerms['owner']): NativeStream {
    const api = 'device.createStream';
    const runtime = this.use(api);
    checkOptions(api, 'options', options, streamNames);
    const { priority = 0, blocking = false, name = '' } = options;
    if (!Number.isInteger(priority) || (priority | 0) !== priority) {
      throw wrongKind(api, 'priority', priority, 'a 32-bit integer');
    }
    checkFlag(api, 'blocking', blocking);
    checkText(api, 'name', name);
    const { binding } = environment();
    const handle = guarded(() =>
      binding.createStream(runtime, this.index, priority, blocking, name),
    );
    return this.#adopt(handle, name, owner);
  }

  /** @internal The wrapper of a stream that another thread made. */
  adoptStream(handle: Handle, name: string): Stream {
    return this.#adopt(handle, name, 'user');
  }

  createEvent(options: { readonly timing?: boolean } = {}): Event {
    const api = 'device.createEvent';
    checkOptions(api, 'options', options, eventNames);
    const { timing = false } = options;
    checkFlag(api, 'timing', timing);
    const { binding } = environment();
    const handle = guarded(() => binding.createEvent(this.use(api), this.index, timing));
    return new Event(this.runtime, handle, timing);
  }

  alloc(bytes: number, options: AllocOptions = {}): DeviceBuffer {
    const api = 'device.alloc';
    this.use(api);
    checkOptions(api, 'options', options, allocNames);
    const { stream = this.#current(), label = '', graphOwned = false } = options;
    checkBytes(api, bytes);
    if (typeof label !== 'string') throw wrongKind(api, 'label', label, 'text');
    this.#checkStream(api, stream);
    checkFlag(api, 'graphOwned', graphOwned);
    const { binding } = environment();
    if (graphOwned) {
      this.runtime.noteOrigin();
      const owned = guarded(() => binding.captureAlloc(stream.use(api), bytes, label));
      return new GraphBuffer(this, owned, bytes, label);
    }
    const handle = guarded(() => binding.alloc(stream.use(api), bytes, label));
    return new NativeBuffer(this, handle, bytes, label);
  }

  async allocHost(bytes: number): Promise<HostBuffer> {
    checkBytes('device.allocHost', bytes);
    const runtime = this.use('device.allocHost');
    const { binding } = environment();
    const allocate = (token: number) => binding.allocHostAsync(runtime, bytes, longestArray, token);
    return HostBuffer.of(await runTask(allocate));
  }

  allocHostSync(bytes: number): HostBuffer {
    checkBytes('device.allocHost', bytes);
    const runtime = this.use('device.allocHost');
    return HostBuffer.of(
      guarded(() => environment().binding.allocHost(runtime, bytes, longestArray)),
    );
  }

  createGraph(): Graph {
    const handle = guarded(() => environment().binding.createGraph(this.use('device.createGraph')));
    return new NativeGraph(handle, this, 'explicit');
  }

  capture(record: (stream: Stream) => void, options: CaptureOptions & OnStream = {}): Graph {
    const api = 'device.capture';
    this.use(api);
    checkFunction(api, 'record', record);
    checkOptions(api, 'options', options, captureNames);
    const { stream = this.#current() } = options;
    this.#checkStream(api, stream);
    return captureGraph(stream, record, options);
  }

  async synchronize(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const api = 'device.synchronize';
    checkSignalOnly(api, options);
    const runtime = this.use(api);
    const { binding, completions } = environment();
    await completions.wait(
      (token) => guarded(() => binding.deviceSynchronize(runtime, this.index, token)),
      options.signal,
    );
    checkRacesBehind(this.runtime, api);
  }

  synchronizeSync(): void {
    const api = 'device.synchronizeSync';
    const runtime = this.use(api);
    guarded(() => environment().binding.deviceSynchronizeSync(runtime, this.index));
    checkRacesBehind(this.runtime, api);
  }

  /** @internal Ends the streams that belong to the runtime, with it. */
  release(): void {
    for (const stream of this.#owned) stream.release();
  }

  #checkStream(api: string, stream: Stream): void {
    const isStream = stream instanceof NativeStream;
    if (isStream && stream.device === this) return;
    throw wrongStream(api, stream, isStream ? stream.device : undefined, this);
  }

  // The first one makes the stream, which should not be what an error names.
  #current(): Stream {
    return this.runtime.currentStream(this);
  }

  /** @internal The handle of the runtime. @throws DisposedError, ArgumentError for a proxy */
  use(api: string): Handle {
    if (!(#queue in this)) throw notTheObject(api, 'device');
    return this.runtime.use(api);
  }

  #adopt(handle: number, name: string, owner: StreamTerms['owner']): NativeStream {
    const stream = new NativeStream(this, handle, name, { owner, queue: this.#queue });
    if (owner === 'runtime') this.#owned.push(stream);
    return stream;
  }
}

function checkBytes(api: string, bytes: number): void {
  if (Number.isSafeInteger(bytes) && bytes >= 0) return;
  throw wrongKind(api, 'bytes', bytes, 'a non-negative integer below 2^53');
}
