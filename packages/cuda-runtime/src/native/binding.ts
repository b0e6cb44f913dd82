/**
 * The TypeScript type of the addon, in the order of `native/napi/module.cpp`. Nothing else mentions
 * the `.node` file, and only `load-binding.ts` loads it.
 *
 * Every native object is a record in a process-wide table, named by a 32-bit handle whose top four
 * bits are its kind; a handle of the wrong kind is refused. Handles are never reused in a process
 * before 2^28 others were made. A failing call throws an Error with the fields of `NativeFault`.
 */

import type { CpuCost } from '../cpu/cpu-cost.js';

/** Names a native record: kind in bits 28–31, index and generation below. */
export type Handle = number;

/** What a thrown native error carries besides its message. */
export interface NativeFault {
  /** Stable code, `CRT_…`. */
  readonly code: string;
  /** The public call that failed, e.g. `stream.launch`. */
  readonly api: string;
  /** CUDA's number for the error, also on the CPU backend where CUDA would give one; else 0. */
  readonly number: number;
  /** What happened, in plain words, without code or API name. */
  readonly detail: string;
  /** What to do about it; may be empty. */
  readonly hint: string;
  /** `name#id` of the stream, or empty. */
  readonly stream: string;
  /** Id of the capture sequence concerned, 0 = none. */
  readonly captureId: bigint;
  /** `CRT_FILE_…` only: the path. */
  readonly file?: string;
  /** `CRT_FILE_…` only: the byte of the file concerned, -1 = none. */
  readonly byte?: number;
  /** `CRT_FILE_…` only: the system's error number, 0 = none. */
  readonly systemError?: number;
  /** `CRT_OOM` of an allocation only. */
  readonly requestedBytes?: number;
  readonly freeBytes?: number;
  readonly reservedBytes?: number;
  readonly largestLive?: readonly { readonly label: string; readonly bytes: number }[];
  /** Row of the capture table by which a guard refused the call; absent otherwise. */
  readonly rule?: string;
}

/** 0 = none, 1 = active, 2 = invalidated. */
export type NativeCaptureStatus = 0 | 1 | 2;

/**
 * The command block: one ArrayBuffer per environment, written by TypeScript, read by `launch`.
 * Little-endian 32-bit words: 0–2 grid, 3–5 block, 6 shared bytes, 7 flags (1 = programmatic
 * serialize, 2 = cooperative, 4 = cluster given, 8 = priority given, 16 = event at block start, 32
 * = non-portable cluster), 8–10 cluster, 11 priority, 12 buffer count, 13 bytes of the parameter
 * block, 14 handle of the event that is recorded at the trigger, 15 of the one when all blocks have
 * begun (0 = none), 16 handle of the stream and 17 of the kernel (`launch` alone reads them); from
 * word 18 six words a buffer or condition (handle or 0 = none, field index, byte offset and extent
 * in bytes as doubles: what the tensor spans, for checks); then, 8-byte aligned, the parameter
 * block with zeros where pointers go.
 */
export const commandLayout = {
  bytes: 65_536,
  grid: 0,
  block: 3,
  sharedBytes: 6,
  flags: 7,
  cluster: 8,
  priority: 11,
  bufferCount: 12,
  paramsBytes: 13,
  triggeredEvent: 14,
  startedEvent: 15,
  stream: 16,
  kernel: 17,
  buffers: 18,
  bufferWords: 6,
} as const;

/** A completion posted by a foreign thread: `status` is empty, else JSON of a `NativeFault`. */
export type CompletionHandler = (token: number, status: string) => void;

/** The functions of the addon. A failing one throws an Error with the fields of `NativeFault`. */
export interface NativeBinding {
  /** JSON: `{ version, abi, napi, cuda: boolean, cudaRuntimeVersion }`. */
  buildInfo(): string;
  /** JSON array of backend reports (`BackendReport` of the specification). Blocking. */
  probe(): string;
  /** On the task thread; posts `token`; then `settleTask` ends it, `takeText` has the report. */
  probeAsync(token: number): void;
  takeText(token: number): string;
  /** Called once per environment; the block and the handler live until the environment ends. */
  initialize(onCompletion: CompletionHandler): ArrayBuffer;
  /** Keeps the process alive while promises are outstanding. */
  refCompletions(on: boolean): void;

  /** Opens a backend, or counts the open one. `options` is JSON of `NativeOpenOptions`. */
  openRuntime(backend: string, options: string): Handle;
  /** On the task thread; posts `token`, then `settleTask` gives the runtime. */
  openRuntimeAsync(backend: string, options: string, token: number): void;
  /** Ends a task whose token came: what it made, 0 when it failed. */
  settleTask(token: number): Handle;
  /** Drops one count; the last one in an environment ends it. */
  closeRuntime(runtime: Handle): void;
  /** The same for one that nobody disposed; what ends with it ends on the task thread. */
  forgetRuntime(runtime: Handle): void;
  /** JSON of the runtime's report: level, threads, schedule, modules. */
  describeRuntime(runtime: Handle): string;
  /** JSON of `RuntimeStats`. */
  stats(runtime: Handle): string;
  /** JSON of `LiveRecord[]`; holders that are handles of this environment have it as `handle`. */
  audit(runtime: Handle): string;
  /** JSON: name, uuid, sm, limits, priority range of one device. */
  deviceInfo(runtime: Handle, device: number): string;

  /** A token by which another environment can have the record, once. */
  exportHandle(record: Handle): string;
  /** A handle of this environment; `kind` 0 = any. Of a record of one of the runtimes. */
  importHandle(token: string, kind: number, runtimes: readonly Handle[]): NativeImport;
  /** Drops this wrapper's reference to any record; never blocks. */
  release(handle: Handle): void;

  createStream(
    runtime: Handle,
    device: number,
    priority: number,
    blocking: boolean,
    name: string,
  ): Handle;
  legacyStream(runtime: Handle, device: number): Handle;
  streamId(stream: Handle): bigint;
  streamPriority(stream: Handle): number;
  streamIsIdle(stream: Handle): boolean;
  streamPending(stream: Handle): number;
  streamCaptureStatus(stream: Handle): NativeCaptureStatus;
  streamCaptureId(stream: Handle): bigint;
  /** Posts `token` when everything submitted so far is complete. */
  streamSynchronize(stream: Handle, token: number): void;
  /** Blocks; `timeoutMs` < 0 = for ever. */
  streamSynchronizeSync(stream: Handle, timeoutMs: number): void;
  /** Posts `token` when everything submitted to any stream so far, of any thread, is complete. */
  deviceSynchronize(runtime: Handle, device: number, token: number): void;
  deviceSynchronizeSync(runtime: Handle, device: number): void;
  /** a waits for everything submitted to b so far; a fork or join edge inside a capture. */
  streamWaitStream(stream: Handle, other: Handle): void;

  createEvent(runtime: Handle, device: number, timing: boolean): Handle;
  eventRecord(event: Handle, stream: Handle, external: boolean): void;
  eventWait(event: Handle, stream: Handle, external: boolean): void;
  /** 0 unrecorded, 1 pending, 2 complete, 3 captured, 4 stale. */
  eventState(event: Handle): number;
  /** Raw query as the driver answers it: true = complete, false = not ready; throws otherwise. */
  eventQuery(event: Handle): boolean;
  eventDone(event: Handle, token: number): void;
  eventWaitSync(event: Handle): void;
  eventElapsedMs(start: Handle, end: Handle): number;

  alloc(stream: Handle, bytes: number, label: string): Handle;
  /** Memory of the graph that is being captured: a node that allocates, and one that frees. */
  captureAlloc(stream: Handle, bytes: number, label: string): Handle;
  captureFree(stream: Handle, buffer: Handle): void;
  /** Bytes, label: JSON of a buffer record. */
  bufferInfo(buffer: Handle): string;
  /** CRT_OOM for more than `most`: the longest array of this Node. */
  allocHost(runtime: Handle, bytes: number, most: number): Handle;
  /** On the task thread; posts `token`, then `settleTask` gives the host buffer. */
  allocHostAsync(runtime: Handle, bytes: number, most: number, token: number): void;
  /** The memory of a host buffer as an array, once; detached when the handle is released. */
  hostArray(host: Handle): ArrayBuffer;
  /** Copies `source` before it returns, then into the buffer in stream order. */
  write(stream: Handle, buffer: Handle, byteOffset: number, source: Uint8Array): void;
  /** Copies out in stream order, then posts `token`; then `takeStaged` fills the destination. */
  read(stream: Handle, buffer: Handle, byteOffset: number, bytes: number, token: number): void;
  takeStaged(token: number, destination: Uint8Array): void;
  copy(
    stream: Handle,
    to: Handle,
    toOffset: number,
    from: Handle,
    fromOffset: number,
    bytes: number,
  ): void;
  fill(stream: Handle, buffer: Handle, byteOffset: number, byte: number, bytes: number): void;
  /** Posts `token` when the stream reaches this point; does not hold the stream. */
  notify(stream: Handle, token: number): void;

  /** Loads an artefact and checks layouts; `manifest` is JSON text, `directory` absolute. */
  loadModule(runtime: Handle, manifest: string, directory: string): Handle;
  /** On the task thread; posts `token`, then `settleTask` gives the module. */
  loadModuleAsync(runtime: Handle, manifest: string, directory: string, token: number): void;
  /** The kernel's handle; 0 if the module has no such kernel on this backend. */
  moduleKernel(module: Handle, name: string): Handle;
  /** JSON of `KernelCode`; an empty object on the CPU. */
  kernelCode(kernel: Handle): string;
  /** Blocks of so many threads, with so much dynamic shared memory, that one processor can hold. */
  kernelOccupancy(kernel: Handle, block: number, sharedBytes: number): number;
  /** Starts the kernel that the command block describes. No arguments: each costs time. */
  launch(): void;

  /** The host function `name` with the arguments in the command block. */
  moduleHostFunction(module: Handle, name: string): Handle;
  /** Runs the host function in stream order. */
  streamHost(stream: Handle, callback: Handle): void;

  /** mode: 0 global, 1 thread_local, 2 relaxed. */
  beginCapture(stream: Handle, mode: number): void;
  /** The same into a graph that is there, behind nodes of it. */
  beginCaptureInto(stream: Handle, mode: number, graph: Handle, after: Uint32Array): void;
  endCapture(stream: Handle): Handle;
  /** Ends and discards; never throws for an invalidated capture. */
  abortCapture(stream: Handle): void;
  /** Ids of the nodes that the next one depends on. */
  captureFrontier(stream: Handle): Uint32Array;
  setCaptureFrontier(stream: Handle, nodes: Uint32Array, replace: boolean): void;
  createGraph(runtime: Handle): Handle;
  /** JSON of `GraphJson`. */
  graphInfo(graph: Handle): string;
  /** JSON of one `GraphNode`. */
  graphNodeInfo(graph: Handle, node: number): string;
  graphClone(graph: Handle): Handle;
  /** port: 0 completion, 1 programmatic, 2 launch. */
  graphAddDependency(
    graph: Handle,
    from: number,
    to: number,
    programmatic: boolean,
    port: number,
  ): void;

  /** Every `graphAdd…` gives the id of the new node. The command block describes the launch. */
  graphAddKernel(graph: Handle, kernel: Handle, after: Uint32Array): number;
  graphAddCopy(
    graph: Handle,
    to: Handle,
    toOffset: number,
    from: Handle,
    fromOffset: number,
    bytes: number,
    after: Uint32Array,
  ): number;
  graphAddFill(
    graph: Handle,
    buffer: Handle,
    byteOffset: number,
    byte: number,
    bytes: number,
    after: Uint32Array,
  ): number;
  graphAddEmpty(graph: Handle, after: Uint32Array): number;
  graphAddNotify(graph: Handle, token: number, after: Uint32Array): number;
  graphAddEvent(graph: Handle, event: Handle, records: boolean, after: Uint32Array): number;
  graphAddHost(graph: Handle, callback: Handle, after: Uint32Array): number;
  graphAddChild(graph: Handle, child: Handle, after: Uint32Array): number;
  createCondition(graph: Handle, initial: number): Handle;
  /** type: 0 if, 1 while, 2 switch. */
  graphAddConditional(
    graph: Handle,
    condition: Handle,
    type: number,
    bodies: number,
    after: Uint32Array,
  ): { node: number; bodies: Handle[] };
  graphAddAlloc(
    graph: Handle,
    bytes: number,
    label: string,
    after: Uint32Array,
  ): { node: number; buffer: Handle };
  graphAddFree(graph: Handle, buffer: Handle, after: Uint32Array): number;

  instantiate(graph: Handle, autoFree: boolean, nodePriority: boolean): Handle;
  /** On the task thread; posts `token`, then `settleTask` gives the executable. */
  instantiateAsync(graph: Handle, autoFree: boolean, nodePriority: boolean, token: number): void;
  graphLaunch(exec: Handle, stream: Handle): void;
  graphUpload(exec: Handle, stream: Handle): void;
  graphExecLaunches(exec: Handle): number;
  /** On the task thread; posts `token`, then `settleTask` ends it and `takeText` gives the text. */
  graphExecDriverDot(exec: Handle, verbose: boolean, token: number): void;
  graphExecUpdate(exec: Handle, graph: Handle): NativeUpdate;
  /** The setters take what the `graphAdd…` of the kind takes. */
  graphExecSetKernel(exec: Handle, node: number, kernel: Handle): void;
  graphExecSetCopy(
    exec: Handle,
    node: number,
    to: Handle,
    toOffset: number,
    from: Handle,
    fromOffset: number,
    bytes: number,
  ): void;
  graphExecSetFill(
    exec: Handle,
    node: number,
    buffer: Handle,
    byteOffset: number,
    byte: number,
    bytes: number,
  ): void;
  graphExecSetEnabled(exec: Handle, node: number, enabled: boolean): void;

  /** Makes a record that touches no file yet; without `mapped` its copies are reads. */
  createFile(path: string, mapped: boolean): Handle;
  /** Opens, checks and maps on a thread of libuv's, then posts `token`. Once per record. */
  openFile(file: Handle, token: number): void;
  /** JSON: `{ bytes, reason }`; the reason why copies are reads is empty while they are not. */
  fileInfo(file: Handle): string;
  /**
   * Copies a range on a thread of libuv's, then posts `token`: into a host buffer, or with `host` 0
   * into memory that `takeStaged` gives out.
   */
  copyFile(
    file: Handle,
    offset: number,
    bytes: number,
    host: Handle,
    hostOffset: number,
    token: number,
  ): void;

  /** Begins an empty trace; `byEvents` also where the backend has exact times. */
  traceStart(runtime: Handle, nodes: boolean, byEvents: boolean): void;
  /** Ends it. JSON: spans, waits, memory, losses (src/trace/recorded-trace.ts). */
  traceStop(runtime: Handle): string;
  /** Whether a tool listens to NVTX ranges. */
  nvtxIsOn(): boolean;
  nvtxPush(name: string): void;
  nvtxPop(): void;
  /** Adds a fault that a test wants: JSON of `testing/inject-faults.ts`. CPU backend only. */
  injectFault(runtime: Handle, rule: string): void;
  /** Posts `token` with the fault when the device is lost, at once if it is. */
  watchLoss(runtime: Handle, token: number): void;
  /** Throws what every call on a lost device throws. */
  checkLoss(runtime: Handle): void;
  /** The call stack of what this thread submits next, for the race checker. */
  setOrigin(stack: string): void;
  /**
   * JSON array of what the checkers found since the last call; if asked, they look at memory in use
   * first.
   */
  takeRaces(runtime: Handle, withMemoryInUse: boolean): string;
}

/** What `importHandle` found, with what its kind has; `runtime`: index among those given. */
export interface NativeImport {
  readonly handle: Handle;
  readonly kind: number;
  readonly runtime: number;
  readonly name: string;
  readonly bytes: number;
  /** The memory is a graph's: views have no share. */
  readonly isLent: boolean;
  readonly timing: boolean;
}

/** What `graphExecUpdate` found; nodes are ids of the new graph. */
export interface NativeUpdate {
  readonly result: number;
  readonly node: number | undefined;
  readonly fromNode: number | undefined;
  readonly detail: string;
}

/** Options of `openRuntime` (JSON). */
export interface NativeOpenOptions {
  /** Ordinal of the device among those that the backend sees. */
  readonly device: number;
  readonly guards: boolean;
  readonly strictEvents: boolean;
  readonly launchByGraph: boolean;
  /** `given`: there was a `pool`; `releaseThreshold` -1 = keep all. */
  readonly pool: {
    readonly given: boolean;
    readonly hasThreshold: boolean;
    readonly releaseThreshold: number;
    readonly initialBytes: number;
  };
  readonly cpu: {
    readonly level: string;
    readonly threads: number;
    readonly maxThreads: number;
    readonly schedule: string;
    readonly seed: number;
    readonly raceCheck: boolean;
    readonly poison: boolean;
    readonly pdl: string;
    readonly strictPdl: boolean;
    readonly limitBytes: number;
    readonly clock: string;
    readonly cost: CpuCost;
    readonly hangMs: number;
    readonly protect: boolean;
    readonly reuse: string;
  };
}
