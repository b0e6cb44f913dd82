/**
 * What a user of the runtime holds: runtime, device, stream, memory, kernels. They refer to each
 * other, so they are declared together; each is filled by one file of the same name. Parts that
 * refer to none of them stand with their subject. All calls enqueue or read cached state and return
 * at once, except `…Sync`, promises and `freeBytes`.
 */
import type { LiveRecord } from './audit/live-record.js';
import type { DType } from './dtype.js';
import type { DeviceLostError } from './errors/device-lost-error.js';
import type { CaptureMode } from './graph/capture-mode.js';
import type { Condition } from './graph/condition.js';
import type { ExecOptions } from './graph/exec/exec-options.js';
import type { UpdateReport } from './graph/exec/update-report.js';
import type { EdgeOptions, GraphEdge, GraphNode } from './graph/graph-node.js';
import type { DriverDotOptions } from './graph/pictures/graph-dot.js';
import type { GraphPictures } from './graph/pictures/graph-pictures.js';
import type { KernelAttributes, KernelCode } from './launch/kernel-attributes.js';
import type { LaunchConfig } from './launch/launch-config.js';
import type { ModuleSource } from './launch/module-source.js';
import type { CallbackParams, NativeCallback } from './launch/native-callback.js';
import type { ParamsLayout } from './launch/params/params-layout.js';
import type { DeviceLimits } from './limits.js';
import type { HostBuffer } from './memory/host-buffer.js';
import type { TensorForm } from './memory/tensor-form.js';
import type { DropCount } from './native/completions.js';
import type { RuntimeReport, RuntimeStats } from './report.js';
import type { Event } from './stream/event.js';
import type { StreamCapture } from './stream/stream-capture.js';
import type { StreamOptions } from './stream/stream-options.js';
import type { StreamProgress } from './stream/stream-progress.js';
import type { Trace } from './trace/trace.js';

/** Names a native record; only this package uses it. */
type NativeHandle = number;

/** Memory of a device, freed after its disposal and all work that uses it (docs/lifetimes.md). */
export interface DeviceBuffer extends Disposable {
  readonly device: Device;
  /** Size in bytes; 0 is legal. */
  readonly bytes: number;
  /** Bytes from the start of the memory; 0 unless it is a view. */
  readonly byteOffset: number;
  /** Name for error messages, races and pictures; may be empty. */
  readonly label: string;
  readonly isDisposed: boolean;
  /**
   * A part of the buffer, wherever a buffer is taken, by default up to the end. It shares the
   * memory, which the last view frees; of a graph's or a workspace's it is borrowed
   * (docs/lifetimes.md).
   * @throws ArgumentError for a range outside, DisposedError
   */
  subarray(byteOffset: number, byteLength?: number): DeviceBuffer;
  /** Ends this wrapper; the last view frees the memory, in stream order. @throws NotOwnerError */
  dispose(): void;
  /** @internal */
  use(api: string): NativeHandle;
}

/** A view of device memory, which the last view that is disposed frees (docs/lifetimes.md). */
export interface Tensor extends TensorForm, Disposable {
  /** The buffer that allocated the memory; it may be disposed before this view. */
  readonly buffer: DeviceBuffer;
  readonly device: Device;
  /** Whether it was disposed, or its memory is gone. */
  readonly isDisposed: boolean;
  /** The same elements in another shape; one dimension may be −1. Contiguous tensors only. */
  view(shape: readonly number[]): Tensor;
  /** Indices `start` (inclusive) to `end` (exclusive) of one dimension; copies nothing. */
  slice(dim: number, start: number, end: number): Tensor;
  /** The same without a share: it, and all views of it, end with the last share of the memory. */
  borrow(): Tensor;
  /** Ends this tensor, and the buffer if it allocated it; other views keep the memory. */
  dispose(): void;
}

/** Makes tensors: a stream (an allocation each) or a workspace (a slice of an arena). */
export interface TensorAllocator {
  tensor(shape: readonly number[], dtype: DType, label?: string): Tensor;
}

/** A value for a field of a parameter struct. */
export type ParamValue = Tensor | DeviceBuffer | Condition | number | bigint | boolean | null;

/** Values by field name; every field exactly once, `null` for an optional pointer not used. */
export type KernelParams = Readonly<Record<string, ParamValue>>;

/** A kernel of a loaded module; started by `stream.launch`. Keeps its module alive. */
export interface Kernel {
  readonly name: string;
  readonly params: ParamsLayout;
  readonly attributes: KernelAttributes;
  /** Registers and memory of the code on this device; undefined on the CPU: a function. */
  readonly code: KernelCode | undefined;
  /**
   * Blocks of `block` threads with `sharedBytes` of dynamic shared memory (default 0) that one
   * processor can hold at once; 1 on the CPU.
   * @throws LaunchConfigError if no device could run such a block
   */
  occupancy(block: number, sharedBytes?: number): number;
  /** @internal Describes a launch in the command block for `api`, default `stream.launch`. */
  encode(device: Device, config: LaunchConfig, params: KernelParams, api?: string): NativeHandle;
}

/** The kernels of one package, loaded for one runtime. */
export interface Module {
  readonly runtime: Runtime;
  /** Path of the manifest that was loaded. */
  readonly manifest: string;
  /** Names in the manifest. */
  readonly kernels: readonly string[];
  /** One object a name. @throws KernelImageError `CRT_NO_SYMBOL`, `CRT_NO_CPU_KERNEL` */
  kernel(name: string): Kernel;
  /** A host function with its arguments. @throws KernelImageError `CRT_NO_SYMBOL`, ArgumentError */
  callback(name: string, params: CallbackParams): NativeCallback;
}

/** What can be copied and filled. */
export type Memory = Tensor | DeviceBuffer | HostBuffer;

/** A sequence of operations on a device; every stream is a native stream of its own. */
export interface Stream extends TensorAllocator, StreamProgress, StreamCapture, Disposable {
  /** Never reused in a process. */
  readonly id: bigint;
  readonly name: string;
  /** As the device clamped it. */
  readonly priority: number;
  readonly device: Device;
  readonly runtime: Runtime;
  /** Marks this point. Makes an event if none is given. */
  record(event?: Event, options?: { readonly external?: boolean }): Event;
  /** What is submitted from now on waits for the event as it stands now. */
  wait(event: Event, options?: { readonly external?: boolean }): this;
  /** What is submitted from now on waits for all that was submitted to `other`. */
  waitStream(other: Stream): this;
  /** Starts a kernel; the only way to. @throws LaunchConfigError, ArgumentError */
  launch(kernel: Kernel, config: LaunchConfig, params: KernelParams): this;
  /**
   * Copies all of `source`, or `bytes` of it, to the start of `destination`. @throws ArgumentError
   * where they overlap
   */
  copy(destination: Memory, source: Memory, bytes?: number): this;
  /** Sets all bytes of `destination`, or the first `bytes`, to `byte`. */
  fill(destination: Tensor | DeviceBuffer, byte: number, bytes?: number): this;
  /** Inside a capture: memory that a graph owns ends here. Other memory ends by `dispose`. */
  free(memory: Tensor | DeviceBuffer): this;
  /** Copies into device memory; the bytes are taken before it returns. */
  write(destination: Tensor | DeviceBuffer, source: ArrayBufferView): this;
  /** Copies to `destination`: on the JS thread, but the device fills memory of a `HostBuffer`. */
  read(source: Tensor | DeviceBuffer, destination: ArrayBufferView): Promise<void>;
  /** Runs a native function when this point is reached; the stream waits for it. */
  host(callback: NativeCallback): this;
  /** Calls `callback` on the event loop when this point is reached; does not hold the stream. */
  notify(callback: () => void): this;
  /** Operations from now on become nodes of a graph; prefer `device.capture`. */
  beginCapture(options?: CaptureOptions): void;
  /** Ends the capture that began here. */
  endCapture(): Graph;
  /** Ends and discards it. */
  abortCapture(): void;
  readonly isDisposed: boolean;
  /** @throws NotOwnerError for a stream of the registry, of the runtime or of a pool */
  dispose(): void;
  /** @internal */
  use(api: string): NativeHandle;
  /** @internal The handle for one more operation. @throws QueueFullError */
  submit(api: string): NativeHandle;
}

/** One device of a runtime. */
export interface Device {
  readonly runtime: Runtime;
  readonly index: number;
  readonly name: string;
  readonly uuid: string;
  /** Compute capability, `9.0`; empty on the CPU. */
  readonly sm: string;
  readonly limits: DeviceLimits;
  /** Bytes that allocations could still get; asks the device each time. */
  readonly freeBytes: number;
  readonly priorityRange: { readonly least: number; readonly greatest: number };
  /** The stream that CUDA calls the legacy default stream; cannot capture. */
  readonly legacyStream: Stream;
  createStream(options?: StreamOptions): Stream;
  createEvent(options?: { readonly timing?: boolean }): Event;
  /** Usable at once, on any stream. `stream` (default: the current one): whose capture owns it. */
  alloc(bytes: number, options?: AllocOptions): DeviceBuffer;
  allocHost(bytes: number): Promise<HostBuffer>;
  allocHostSync(bytes: number): HostBuffer;
  /** An empty graph, to be built node by node (docs/graphs.md). */
  createGraph(): Graph;
  /**
   * The graph of what `record` submits; a promise of it discards the capture. However it ends, all
   * is as before (docs/capture.md). @throws CaptureError, and whatever `record` threw
   */
  capture(record: (stream: Stream) => void, options?: CaptureOptions & OnStream): Graph;
  /** Resolves when all that any thread submitted is over (docs/threads.md). @throws CaptureError */
  synchronize(options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The same, blocking this thread; refused during any capture of the runtime, as in CUDA. */
  synchronizeSync(): void;
}

/** How a capture is made. */
export interface CaptureOptions {
  /** Default `thread_local`: only this thread's calls are restricted. */
  readonly mode?: CaptureMode;
  /** Adds the nodes to a graph that is there, behind `after`; it is gone if that fails (CB21). */
  readonly into?: { readonly graph: Graph; readonly after?: readonly GraphNode[] };
}

/**
 * A graph of operations, captured or built node by node. Retains the memory, kernels and events
 * that its nodes use. `after` names the nodes that a new one depends on; none twice.
 */
export interface Graph extends GraphPictures, Disposable {
  readonly device: Device;
  readonly origin: 'explicit' | 'captured' | 'body';
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  addKernel(
    kernel: Kernel,
    config: LaunchConfig,
    params: KernelParams,
    after?: readonly GraphNode[],
  ): GraphNode;
  /** Copies `bytes`, default all of `source`. */
  addCopy(
    destination: Memory,
    source: Memory,
    bytes?: number,
    after?: readonly GraphNode[],
  ): GraphNode;
  /** Sets `bytes`, default all of `destination`, to `byte`. */
  addFill(
    destination: Tensor | DeviceBuffer,
    byte: number,
    bytes?: number,
    after?: readonly GraphNode[],
  ): GraphNode;
  /** Does nothing: joins edges. */
  addEmpty(after?: readonly GraphNode[]): GraphNode;
  /** Runs a native function on the callback thread. */
  addHost(callback: NativeCallback, after?: readonly GraphNode[]): GraphNode;
  /** Calls `callback` on the event loop at each launch; holds nothing up. */
  addNotify(callback: () => void, after?: readonly GraphNode[]): GraphNode;
  addEventRecord(event: Event, after?: readonly GraphNode[]): GraphNode;
  /** Waits for what the event holds when the graph is launched. */
  addEventWait(event: Event, after?: readonly GraphNode[]): GraphNode;
  /** A copy of `graph` as one node. @throws GraphLifetimeError with memory nodes or conditions */
  addChild(graph: Graph, after?: readonly GraphNode[]): GraphNode;
  /** A value that kernels set through a `uint64_t` field; every launch starts it at `initial`. */
  createCondition(initial?: number): Condition;
  /** Runs `then` when the value is not 0, else `else` if asked for. */
  addIf(
    condition: Condition,
    after?: readonly GraphNode[],
    options?: { readonly else?: boolean },
  ): { readonly node: GraphNode; readonly then: Graph; readonly else?: Graph };
  /** Runs `body` as long as the value is not 0; looks before each turn. */
  addWhile(
    condition: Condition,
    after?: readonly GraphNode[],
  ): { readonly node: GraphNode; readonly body: Graph };
  /** Runs the case of that number; none for larger values. */
  addSwitch(
    condition: Condition,
    cases: number,
    after?: readonly GraphNode[],
  ): { readonly node: GraphNode; readonly cases: readonly Graph[] };
  /** Memory of the graph; nodes behind this one may use it (docs/graphs.md). */
  addAlloc(
    bytes: number,
    after?: readonly GraphNode[],
    label?: string,
  ): { readonly node: GraphNode; readonly buffer: DeviceBuffer };
  addFree(buffer: DeviceBuffer, after?: readonly GraphNode[]): GraphNode;
  /** @throws ArgumentError for a cycle, a second edge, a foreign node, a port that does not fit */
  addDependency(from: GraphNode, to: GraphNode, options?: EdgeOptions): void;
  /** @throws GraphLifetimeError with memory nodes or conditions */
  clone(): Graph;
  /** Keeps `object` until the graph, its executables and their launches are gone. */
  retain(object: object): void;
  /**
   * Makes an executable on a thread of the runtime; meanwhile changes throw `BusyError`.
   * @throws GraphInstantiateError, GraphLifetimeError; RaceError with the race checker on
   */
  instantiate(options?: InstantiateOptions): Promise<GraphExec>;
  /** The same on this thread; below a millisecond for a hundred nodes. */
  instantiateSync(options?: InstantiateOptions): GraphExec;
  /** Ends this object; executables made from it go on. */
  dispose(): void;
}

/** How an executable is made. */
export interface InstantiateOptions extends ExecOptions {
  /** Prepares the first launch on this stream. */
  readonly upload?: Stream;
}

/** A graph that can be launched. Launches of one executable run one after the other. */
export interface GraphExec extends Disposable {
  /** How often it was launched, by all threads that have it. */
  readonly launches: number;
  /** Starts all nodes as one operation of `stream` (default: the current stream). */
  launch(stream?: Stream): this;
  /** Makes the first launch on `stream` cheaper. */
  upload(stream?: Stream): this;
  /** Takes over other parameters of `graph`; else says what differs. Refused, it changes none. */
  update(graph: Graph): UpdateReport;
  /** Later launches run this instead; launches in flight are not affected. */
  setKernel(node: GraphNode, kernel: Kernel, config: LaunchConfig, params: KernelParams): void;
  setCopy(node: GraphNode, destination: Memory, source: Memory, bytes?: number): void;
  setFill(node: GraphNode, destination: Tensor | DeviceBuffer, byte: number, bytes?: number): void;
  /** A kernel, copy or fill that is off completes at once. */
  setEnabled(node: GraphNode, enabled: boolean): void;
  /** Graphviz text by the driver of the graph as instantiated. @throws ArgumentError on the CPU */
  driverDot(options?: DriverDotOptions): Promise<string>;
  /** Ends this object; a launch that runs goes on. */
  dispose(): void;
}

/** Options of an allocation. */
export interface AllocOptions extends OnStream {
  readonly label?: string;
  /** A node of the captured graph allocates it at each launch (docs/graphs.md); default false. */
  readonly graphOwned?: boolean;
}

/** Names the stream to use instead of the current one. */
export interface OnStream {
  readonly stream?: Stream;
}

/** Streams by role. The registry owns those it made; disposing one throws `NotOwnerError`. */
export interface StreamRegistry {
  /**
   * Gets or makes. The same object for the same name and device; only where the current stream is
   * captured while that object takes part in another capture, one of its own for this capture.
   */
  get(name: string, options?: { readonly device?: Device; readonly priority?: number }): Stream;
  /** Installs a stream that somebody else owns. */
  set(name: string, stream: Stream): void;
  has(name: string, device?: Device): boolean;
  names(): readonly string[];
}

/** An open backend. */
export interface Runtime extends AsyncDisposable {
  readonly backend: 'cpu' | 'cuda';
  readonly devices: readonly Device[];
  readonly streams: StreamRegistry;
  readonly trace: Trace;
  /** A device by index; default the one of `open`. */
  device(index?: number): Device;
  /** The innermost `withStream`, else the device's own stream `main`. */
  currentStream(device?: Device): Stream;
  /** Makes `stream` current while `body` runs; `body` must be synchronous, and no generator. */
  withStream<T>(stream: Stream, body: () => T): T;
  /** The current stream is being captured. */
  isCapturing(): boolean;
  /** Inside `withCaptureMode` or `device.capture`. */
  isCaptureMode(): boolean;
  /** For a warm-up that must do what the capture will do. */
  withCaptureMode<T>(body: () => T): T;
  /** Loads a kernel package. @throws KernelImageError */
  loadModule(source: ModuleSource): Promise<Module>;
  /** What was chosen and why. */
  describe(): RuntimeReport;
  stats(): RuntimeStats;
  /** What is alive and what holds it, of all threads (docs/lifetimes.md). Calls wait meanwhile. */
  audit(): readonly LiveRecord[];
  /** @throws RaceError if the CPU backend's checker found any since a wait or this was told */
  checkRaces(): void;
  /** @internal Of callbacks of this thread. */
  readonly notifications: DropCount;
  /** @internal Whether there is a race checker to ask. */
  readonly checksRaces: boolean;
  /** @internal `checkRaces` as a part of another call, which the error names. */
  checkRacesIn(api: string): void;
  /** @internal With the race checker: what this thread submits next comes from the caller. */
  noteOrigin(): void;
  /** Calls it once when the device is lost (docs/threads.md). @returns removes the listener */
  onDeviceLost(listener: (error: DeviceLostError) => void): () => void;
  /**
   * Gives back one `open`; the last one ends the runtime, and then rejects if a race was found of
   * which nobody was told. @throws RaceError
   */
  dispose(): Promise<void>;
  /** @internal */
  use(api: string): NativeHandle;
}
