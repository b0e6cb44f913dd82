import { checkCallback, checkFlag, wrongKind, wrongRuntime } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type {
  CaptureOptions,
  Device,
  DeviceBuffer,
  Graph,
  Kernel,
  KernelParams,
  Memory,
  Runtime,
  Stream,
  Tensor,
} from '../contract.js';
import type { DType } from '../dtype.js';
import { fromNative } from '../errors/from-native.js';
import { NotOwnerError } from '../errors/not-owner-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import { shorten } from '../errors/short-text.js';
import { HostFunction } from '../launch/host-function.js';
import { NativeKernel } from '../launch/kernel.js';
import type { LaunchConfig } from '../launch/launch-config.js';
import type { NativeCallback } from '../launch/native-callback.js';
import { Tensor as TensorFactory } from '../memory/tensor.js';
import { commandLayout, type Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { hostRange, wantsHostRanges } from '../trace/host-ranges.js';
import {
  abortCapture,
  beginCapture,
  captureDependencies,
  captureStatusOf,
  checkCaptureOptions,
  endCapture,
  noteCallback,
  setCaptureDependencies,
} from './capture-state.js';
import { free } from './captured-memory.js';
import { Event } from './event.js';
import { PendingLimit, type QueueOptions } from './pending-limit.js';
import { synchronize, synchronizeSync, waitUntilBelow } from './stream-waits.js';
import { copy, fill, read, write } from './transfers.js';
import type { WaitOptions } from './wait-options.js';

/** What a stream is made with besides its native record. */
export interface StreamTerms {
  /** Who ends it. */
  readonly owner: 'user' | 'runtime' | 'pool';
  readonly queue: QueueOptions;
}

/** The one implementation of `Stream`. */
export class NativeStream implements Stream {
  readonly id: bigint;
  readonly name: string;
  readonly priority: number;
  readonly device: Device;
  readonly #record: NativeRecord;
  readonly #owner: StreamTerms['owner'];
  readonly #limit: PendingLimit;

  constructor(device: Device, handle: Handle, name: string, { owner, queue }: StreamTerms) {
    const { binding } = environment();
    this.device = device;
    this.name = name;
    this.id = binding.streamId(handle);
    this.priority = binding.streamPriority(handle);
    this.#owner = owner;
    this.#limit = new PendingLimit(queue, `${name}#${this.id}`, {
      pending: () => this.pending,
      isCaptured: () => this.captureStatus !== 'none',
    });
    const terms = { isUsers: owner !== 'runtime', owner };
    this.#record = new NativeRecord(this, handle, `stream ${shorten(name)}#${this.id}`, terms);
  }

  get runtime(): Runtime {
    return this.device.runtime;
  }

  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'stream');
    return this.#record.use(api);
  }

  submit(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'stream');
    const handle = this.#record.use(api);
    this.#limit.admit(api);
    this.device.runtime.noteOrigin();
    return handle;
  }

  record(event?: Event, options: { readonly external?: boolean } = {}): Event {
    const api = 'stream.record';
    const target = event ?? this.device.createEvent();
    checkEvent(api, this, target);
    const external = isExternal(api, options);
    const { binding } = environment();
    guarded(() => binding.eventRecord(target.use(api), this.use(api), external));
    return target;
  }

  wait(event: Event, options: { readonly external?: boolean } = {}): this {
    const api = 'stream.wait';
    checkEvent(api, this, event);
    const external = isExternal(api, options);
    const { binding } = environment();
    guarded(() => binding.eventWait(event.use(api), this.use(api), external));
    return this;
  }

  waitStream(other: Stream): this {
    const api = 'stream.waitStream';
    if (other === this) return this;
    if (!(other instanceof NativeStream)) throw wrongKind(api, 'other', other, 'a stream');
    if (other.device?.runtime !== this.runtime) throw wrongRuntime(api, 'other', this.runtime);
    guarded(() => environment().binding.streamWaitStream(this.use(api), other.use(api)));
    return this;
  }

  launch(kernel: Kernel, config: LaunchConfig, params: KernelParams): this {
    if (!(kernel instanceof NativeKernel)) {
      throw wrongKind('stream.launch', 'kernel', kernel, 'a kernel of `module.kernel`');
    }
    if (wantsHostRanges()) {
      return hostRange(`launch ${kernel.name}`, () => this.#launch(kernel, config, params));
    }
    return this.#launch(kernel, config, params);
  }

  #launch(kernel: NativeKernel, config: LaunchConfig, params: KernelParams): this {
    const handle = this.submit('stream.launch');
    const kernelHandle = kernel.encode(this.device, config, params);
    const { binding, block } = environment();
    block.words[commandLayout.stream] = handle;
    block.words[commandLayout.kernel] = kernelHandle;
    try {
      binding.launch();
    } catch (error) {
      throw fromNative(error);
    }
    return this;
  }

  copy(destination: Memory, source: Memory, bytes?: number): this {
    copy(this, destination, source, bytes);
    return this;
  }

  fill(destination: Tensor | DeviceBuffer, byte: number, bytes?: number): this {
    fill(this, destination, byte, bytes);
    return this;
  }

  free(memory: Tensor | DeviceBuffer): this {
    free(this, memory);
    return this;
  }

  write(destination: Tensor | DeviceBuffer, source: ArrayBufferView): this {
    write(this, destination, source);
    return this;
  }

  read(source: Tensor | DeviceBuffer, destination: ArrayBufferView): Promise<void> {
    return read(this, source, destination);
  }

  tensor(shape: readonly number[], dtype: DType, label = ''): Tensor {
    return TensorFactory.allocate(this.device, shape, dtype, { stream: this, label });
  }

  notify(callback: () => void): this {
    checkCallback('stream.notify', 'callback', callback);
    const handle = this.submit('stream.notify');
    const isCapturing = this.captureStatus === 'active';
    const { binding, completions } = environment();
    const { notifications } = this.device.runtime;
    const token = isCapturing
      ? completions.notifyOften(callback, notifications)
      : completions.notify(callback, notifications);
    try {
      binding.notify(handle, token);
    } catch (error) {
      completions.cancel(token);
      throw fromNative(error);
    }
    if (isCapturing) noteCallback(this, { token, callback });
    return this;
  }

  host(callback: NativeCallback): this {
    const api = 'stream.host';
    if (!(callback instanceof HostFunction)) {
      throw wrongKind(api, 'callback', callback, 'a host function of `module.callback`');
    }
    const handle = this.submit(api);
    guarded(() => environment().binding.streamHost(handle, callback.use(api)));
    return this;
  }

  isIdle(): boolean {
    return guarded(() => environment().binding.streamIsIdle(this.use('stream.isIdle')));
  }

  synchronize(options: WaitOptions = {}): Promise<void> {
    return synchronize(this, options);
  }

  synchronizeSync(options: { readonly timeoutMs?: number } = {}): void {
    synchronizeSync(this, options);
  }

  get pending(): number {
    const handle = this.use('stream.pending');
    // Not `guarded`: an engine asks at each step.
    try {
      return environment().binding.streamPending(handle);
    } catch (error) {
      throw fromNative(error);
    }
  }

  async ready(below?: number): Promise<void> {
    this.use('stream.ready');
    await waitUntilBelow(this, below === undefined ? this.#limit.readyBelow : below);
  }

  get captureStatus(): 'none' | 'active' | 'invalidated' {
    return captureStatusOf(this);
  }

  get captureId(): bigint | undefined {
    const handle = this.use('stream.captureId');
    return guarded(() => environment().binding.streamCaptureId(handle)) || undefined;
  }

  get captureDependencies(): readonly number[] | undefined {
    return captureDependencies(this);
  }

  setCaptureDependencies(nodes: readonly number[], how: 'replace' | 'add' = 'replace'): void {
    setCaptureDependencies(this, nodes, how);
  }

  beginCapture(options: CaptureOptions = {}): void {
    checkCaptureOptions('stream.beginCapture', options);
    beginCapture(this, options);
  }

  endCapture(): Graph {
    return endCapture(this);
  }

  abortCapture(): void {
    abortCapture(this);
  }

  get isDisposed(): boolean {
    if (!(#record in this)) throw notTheObject('stream.isDisposed', 'stream');
    return this.#record.isReleased;
  }

  dispose(): void {
    if (!(#record in this)) throw notTheObject('stream.dispose', 'stream');
    if (this.#owner !== 'user') throw notOwner(this, this.#owner);
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The owner ends it. */
  release(): void {
    this.#record.release();
  }
}

function notOwner({ name, id }: Stream, owner: 'runtime' | 'pool'): NotOwnerError {
  return new NotOwnerError({
    api: 'stream.dispose',
    detail: `stream ${shorten(name)}#${id} belongs to its ${owner}`,
    hint: `Dispose the ${owner}; streams of \`device.createStream\` can be disposed alone`,
  });
}

function checkEvent(api: string, { runtime }: Stream, event: Event): void {
  if (!(event instanceof Event)) throw wrongKind(api, 'event', event, 'an event');
  if (event.owner !== runtime) throw wrongRuntime(api, 'event', runtime);
}

const externalNames: OptionNames<{ external?: boolean }> = { external: true };

/** Whether the event is one of the outside, also inside a capture. @throws ArgumentError */
function isExternal(api: string, options: { readonly external?: boolean }): boolean {
  checkOptions(api, 'options', options, externalNames);
  const { external = false } = options;
  checkFlag(api, 'external', external);
  return external;
}
