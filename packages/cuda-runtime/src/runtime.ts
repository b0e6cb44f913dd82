import { checkCallback, checkFunction, wrongKind, wrongRuntime } from './arguments/faults.js';
import { refuseUnfinished } from './arguments/unfinished.js';
import { auditRecords } from './audit/audit-records.js';
import type { LiveRecord } from './audit/live-record.js';
import type { Device, Module, Runtime, Stream, StreamRegistry } from './contract.js';
import { MissingWaits } from './cpu/missing-waits.js';
import { NativeDevice } from './device.js';
import { parseDeviceInfo } from './device-info.js';
import { ArgumentError } from './errors/argument-error.js';
import { describeValue } from './errors/describe-value.js';
import type { DeviceLostError } from './errors/device-lost-error.js';
import { notTheObject } from './errors/not-the-object.js';
import { checkSource } from './launch/find-artefacts.js';
import { loadModule, type NativeModule } from './launch/module.js';
import type { ModuleSource } from './launch/module-source.js';
import type { Handle } from './native/binding.js';
import { environment } from './native/environment.js';
import { guarded, guardedAs } from './native/guarded.js';
import { noteOrigin } from './native/origin.js';
import { NativeRecord } from './native/record.js';
import type { ResolvedOptions } from './open-options.js';
import { throwRaces } from './races.js';
import type { RuntimeReport, RuntimeStats } from './report.js';
import type { QueueOptions } from './stream/pending-limit.js';
import { NativeStream } from './stream/stream.js';
import { NamedStreams } from './stream/stream-registry.js';
import { LossListeners } from './threads/loss-listeners.js';
import { notCloneable } from './threads/not-cloneable.js';
import { noteClosed, noteOpened } from './threads/open-runtimes.js';
import { hostRange, wantsHostRanges } from './trace/host-ranges.js';
import { NativeTrace } from './trace/trace.js';

const runtimeTerms = { isRuntime: true } as const;

/** What looks for mistakes. */
interface CpuChecks {
  readonly races: boolean;
  /** The bytes beside each buffer. */
  readonly memory: boolean;
}

/** What a runtime is opened with. */
export interface RuntimeOrigin {
  readonly backend: 'cpu' | 'cuda';
  readonly why: string;
  readonly options: ResolvedOptions;
  /** Gives back one `open`; true when it was the last. */
  readonly giveBack: () => boolean;
}

/** The one implementation of `Runtime`. */
export class NativeRuntime implements Runtime {
  /** Refuses structured clone, also of all that refers to the runtime. */
  readonly cloning = notCloneable;
  readonly backend: 'cpu' | 'cuda';
  readonly devices: readonly NativeDevice[];
  readonly streams: StreamRegistry;
  readonly trace: NativeTrace;
  readonly notifications = { dropped: 0 };
  readonly #origin: RuntimeOrigin;
  readonly #modules = new Map<string, NativeModule>();
  readonly #loading = new Map<string, Promise<Module>>();
  readonly #current: Stream[] = [];
  readonly #main = new Map<Device, Stream>();
  readonly #checks: CpuChecks;
  readonly #loss = new LossListeners();
  readonly #missingWaits: MissingWaits;
  readonly #record: NativeRecord;
  #captureModes = 0;
  #ending: Promise<void> | undefined;

  constructor(handle: Handle, origin: RuntimeOrigin) {
    this.#record = new NativeRecord(this, handle, `the ${origin.backend} runtime`, runtimeTerms);
    this.#origin = origin;
    this.backend = origin.backend;
    this.#missingWaits = new MissingWaits(origin.options.native.cpu.strictPdl);
    const { raceCheck, poison } = origin.options.native.cpu;
    const isCpu = origin.backend === 'cpu';
    this.#checks = { races: isCpu && raceCheck, memory: isCpu && poison };
    const devices = listDevices(this, handle, origin.options.queue);
    this.devices = devices;
    const make = (device: Device, name: string, priority = 0) =>
      ownDevice(devices, device).makeStream({ name, priority }, 'runtime');
    this.streams = new NamedStreams(this, make);
    this.trace = new NativeTrace((api) => this.use(api));
    noteOpened(this);
  }

  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'runtime');
    return this.#record.use(api);
  }

  device(index = 0): Device {
    const device = Number.isInteger(index) ? this.devices[index] : undefined;
    if (device) return device;
    const detail = `\`index\` is ${describeValue(index)}, expected 0 … ${this.devices.length - 1}`;
    throw new ArgumentError({ api: 'runtime.device', number: 101, detail });
  }

  currentStream(device: Device = this.device()): Stream {
    if (!(#current in this)) throw notTheObject('runtime.currentStream', 'runtime');
    for (let at = this.#current.length - 1; at >= 0; at -= 1) {
      const stream = this.#current[at];
      if (stream?.device === device) return stream;
    }
    const main = this.#main.get(device);
    return main ?? this.#makeMain(device);
  }

  withStream<T>(stream: Stream, body: () => T): T {
    const api = 'runtime.withStream';
    if (!(stream instanceof NativeStream)) throw wrongKind(api, 'stream', stream, 'a stream');
    if (stream.device?.runtime !== this) throw wrongRuntime(api, 'stream', this);
    checkFunction(api, 'body', body);
    if (!wantsHostRanges()) return this.#runOn(stream, body);
    return hostRange(`withStream ${stream.name}`, () => this.#runOn(stream, body));
  }

  #runOn<T>(stream: Stream, body: () => T): T {
    this.#current.push(stream);
    try {
      return refuseAsync('runtime.withStream', body());
    } finally {
      this.#current.pop();
    }
  }

  isCapturing(): boolean {
    return this.currentStream().captureStatus !== 'none';
  }

  isCaptureMode(): boolean {
    if (!(#captureModes in this)) throw notTheObject('runtime.isCaptureMode', 'runtime');
    return this.#captureModes > 0;
  }

  withCaptureMode<T>(body: () => T): T {
    if (!(#captureModes in this)) throw notTheObject('runtime.withCaptureMode', 'runtime');
    checkFunction('runtime.withCaptureMode', 'body', body);
    this.#captureModes += 1;
    try {
      return refuseAsync('runtime.withCaptureMode', body());
    } finally {
      this.#captureModes -= 1;
    }
  }

  async loadModule(source: ModuleSource): Promise<Module> {
    checkSource(source);
    this.use('runtime.loadModule');
    const key = JSON.stringify(source);
    const known = this.#modules.get(key);
    if (known) return known;
    let loading = this.#loading.get(key);
    if (!loading) {
      loading = this.#load(key, source).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
  }

  describe(): RuntimeReport {
    const handle = this.use('runtime.describe');
    const { binding } = environment();
    return {
      backend: this.backend,
      why: this.#origin.why,
      guards: this.#origin.options.native.guards,
      launchByGraph: launchByGraph(this.#origin),
      devices: this.devices.map((device) => device.name),
      modules: [...this.#modules.values()].map((module) => module.manifest),
      details: JSON.parse(guarded(() => binding.describeRuntime(handle))),
    };
  }

  stats(): RuntimeStats {
    const handle = this.use('runtime.stats');
    const { binding, completions } = environment();
    const counters = JSON.parse(guarded(() => binding.stats(handle)));
    this.#missingWaits.look(counters);
    return {
      ...counters,
      droppedNotifications: this.notifications.dropped,
      droppedCompletions: completions.dropped,
    };
  }

  audit(): readonly LiveRecord[] {
    return auditRecords(this.use('runtime.audit'));
  }

  checkRaces(): void {
    this.checkRacesIn('runtime.checkRaces', true);
  }

  checkRacesIn(api: string, withMemoryInUse = false): void {
    const runtime = this.use(api);
    if (!this.checksRaces) return;
    const { binding } = environment();
    throwRaces(
      api,
      guardedAs(api, () => binding.takeRaces(runtime, withMemoryInUse)),
    );
  }

  get checksRaces(): boolean {
    if (!(#checks in this)) throw notTheObject('runtime.checksRaces', 'runtime');
    return this.#checks.races || this.#checks.memory;
  }

  noteOrigin(): void {
    if (!(#checks in this)) throw notTheObject('runtime.noteOrigin', 'runtime');
    if (this.#checks.races) noteOrigin();
  }

  onDeviceLost(listener: (error: DeviceLostError) => void): () => void {
    const api = 'runtime.onDeviceLost';
    checkCallback(api, 'listener', listener);
    return this.#loss.add(listener, this.use(api));
  }

  async dispose(): Promise<void> {
    if (!(#record in this)) throw notTheObject('runtime.dispose', 'runtime');
    // The first call tells what there is to tell; later ones wait with it.
    if (this.#ending) return this.#ending.catch(() => undefined);
    if (!this.#origin.giveBack()) return;
    this.#ending = this.#endBehindWork();
    return this.#ending;
  }

  async #endBehindWork(): Promise<void> {
    try {
      if (this.backend === 'cpu') this.stats(); // warns of what nobody has asked for
      // What is under way may still write beside its memory. Else the end comes within this call.
      if (this.#checks.memory) await workOver(this.use('runtime.dispose'));
      this.checkRacesIn('runtime.dispose', true);
    } finally {
      this.#end();
    }
  }

  // What was given back is over, whatever its last report was.
  #end(): void {
    this.trace.release();
    noteClosed(this);
    try {
      this.#loss.end();
      for (const module of this.#modules.values()) module.release();
      for (const device of this.devices) device.release();
    } finally {
      this.#record.release();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  async #load(key: string, source: ModuleSource): Promise<Module> {
    const module = await loadModule(this, source);
    if (this.#record.isReleased) module.release();
    this.use('runtime.loadModule');
    this.#modules.set(key, module);
    return module;
  }

  #makeMain(device: Device): Stream {
    const own = ownDevice(this.devices, device);
    const main = own.makeStream({ name: 'main' }, 'runtime');
    this.#main.set(device, main);
    return main;
  }
}

// Also when it fails: its memory is over then, too.
async function workOver(runtime: Handle): Promise<void> {
  const { binding, completions } = environment();
  const start = (token: number) => guarded(() => binding.deviceSynchronize(runtime, 0, token));
  await completions.wait(start).catch(() => undefined);
}

function launchByGraph({ backend, options }: RuntimeOrigin): RuntimeReport['launchByGraph'] {
  if (backend === 'cpu') return { on: false, why: 'the cpu backend has no launches to save' };
  return { on: options.native.launchByGraph, why: options.whyLaunchByGraph };
}

function listDevices(
  runtime: Runtime,
  handle: Handle,
  queue: QueueOptions,
): readonly NativeDevice[] {
  const { binding } = environment();
  const report = JSON.parse(guarded(() => binding.describeRuntime(handle)));
  const count = Number(report.devices ?? 1);
  return Array.from({ length: count }, (_, index) => {
    const info = parseDeviceInfo(guarded(() => binding.deviceInfo(handle, index)));
    return new NativeDevice(runtime, index, info, queue);
  });
}

function ownDevice(devices: readonly Device[], device: Device): NativeDevice {
  if (device instanceof NativeDevice && devices.includes(device)) return device;
  const api = 'runtime.currentStream';
  const [first] = devices;
  if (!(device instanceof NativeDevice) || !first) {
    throw wrongKind(api, 'device', device, 'a device of this runtime');
  }
  throw wrongRuntime(api, 'device', first.runtime);
}

function refuseAsync<T>(api: string, result: T): T {
  const hint = 'Make it synchronous, or pass the stream to each call';
  return refuseUnfinished(api, result, 'other tasks would run with its stream', hint);
}
