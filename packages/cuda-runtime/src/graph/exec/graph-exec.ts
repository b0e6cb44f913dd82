import { wrongKind } from '../../arguments/faults.js';
import type {
  DeviceBuffer,
  Graph,
  GraphExec,
  Kernel,
  KernelParams,
  Memory,
  Stream,
  Tensor,
} from '../../contract.js';
import { fromNative } from '../../errors/from-native.js';
import { notTheObject } from '../../errors/not-the-object.js';
import { NativeKernel } from '../../launch/kernel.js';
import type { LaunchConfig } from '../../launch/launch-config.js';
import { copyRange, fillRange } from '../../memory/ranges.js';
import type { Handle } from '../../native/binding.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';
import { NativeRecord } from '../../native/record.js';
import { runTextTask } from '../../native/task.js';
import { checkRacesBehind } from '../../races.js';
import { notCloneable } from '../../threads/not-cloneable.js';
import { hostRange, wantsHostRanges } from '../../trace/host-ranges.js';
import type { GraphNode } from '../graph-node.js';
import type { HeldObjects } from '../held-objects.js';
import type { GraphTarget } from '../nodes/graph-target.js';
import { nodeId } from '../nodes/node-owner.js';
import { type DriverDotOptions, isVerbose } from '../pictures/graph-dot.js';
import { launchKeeping } from './launches-in-flight.js';
import { type UpdateReport, updateReport } from './update-report.js';

/** What an executable knows of its graph: not the graph, which may go before it. */
export type ExecHome = Pick<GraphTarget, 'device' | 'owner'>;

/** The one implementation of `GraphExec`. */
export class NativeGraphExec implements GraphExec {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #record: NativeRecord;
  readonly #graph: ExecHome;
  // What the nodes of the executable use now; launches in flight keep what they were started with.
  #held: HeldObjects;

  /** @internal Made by `graph.instantiate`; `graph` is whose nodes the setters take. */
  constructor(handle: Handle, graph: ExecHome, held: HeldObjects) {
    this.#record = new NativeRecord(this, handle, 'graph executable');
    this.#graph = graph;
    this.#held = held;
  }

  /** @internal The native handle. @throws DisposedError */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'graph executable');
    return this.#record.use(api);
  }

  get launches(): number {
    return guarded(() => environment().binding.graphExecLaunches(this.use('graphExec.launches')));
  }

  launch(stream: Stream = this.currentStream('graphExec.launch')): this {
    const api = 'graphExec.launch';
    if (typeof stream?.submit !== 'function') throw wrongKind(api, 'stream', stream, 'a stream');
    const handle = stream.submit(api);
    const { objects } = this.#held;
    // Nearly every graph keeps nothing and is in no trace, and its launch then makes no functions.
    if (objects.length === 0 && !wantsHostRanges()) this.#launch(handle);
    else {
      launchKeeping(handle, objects, () => {
        hostRange('launch graph', () => this.#launch(handle));
      });
    }
    return this;
  }

  #launch(stream: Handle): void {
    try {
      environment().binding.graphLaunch(this.use('graphExec.launch'), stream);
    } catch (error) {
      throw fromNative(error);
    }
  }

  upload(stream: Stream = this.currentStream('graphExec.upload')): this {
    const api = 'graphExec.upload';
    if (typeof stream?.use !== 'function') throw wrongKind(api, 'stream', stream, 'a stream');
    const { binding } = environment();
    guarded(() => binding.graphUpload(this.use(api), stream.use(api)));
    return this;
  }

  update(graph: Graph): UpdateReport {
    const api = 'graphExec.update';
    if (!isTarget(graph)) throw wrongKind(api, 'graph', graph, 'a graph');
    const { binding } = environment();
    const native = guarded(() => binding.graphExecUpdate(this.use(api), graph.use(api)));
    if (native.result === 0) {
      this.#held = graph.held.copy();
      checkRacesBehind(graph.device.runtime, api);
    }
    return updateReport(native, graph.nodes);
  }

  setKernel(node: GraphNode, kernel: Kernel, config: LaunchConfig, params: KernelParams): void {
    const api = 'graphExec.setKernel';
    const id = this.node(api, node);
    if (!(kernel instanceof NativeKernel)) {
      throw wrongKind(api, 'kernel', kernel, 'a kernel of `module.kernel`');
    }
    const native = kernel.encode(this.home(api).device, config, params, api);
    guarded(() => environment().binding.graphExecSetKernel(this.use(api), id, native));
  }

  setCopy(node: GraphNode, destination: Memory, source: Memory, bytes?: number): void {
    const api = 'graphExec.setCopy';
    const id = this.node(api, node);
    const range = copyRange(api, this.home(api).device, destination, source, bytes);
    const { to, from } = range;
    const places = [to.handle, to.offset, from.handle, from.offset] as const;
    const { binding } = environment();
    guarded(() => binding.graphExecSetCopy(this.use(api), id, ...places, range.bytes));
  }

  setFill(node: GraphNode, destination: Tensor | DeviceBuffer, byte: number, bytes?: number): void {
    const api = 'graphExec.setFill';
    const id = this.node(api, node);
    const range = fillRange(api, this.home(api).device, destination, byte, bytes);
    const { binding } = environment();
    const { handle, offset } = range.to;
    guarded(() => binding.graphExecSetFill(this.use(api), id, handle, offset, byte, range.bytes));
  }

  setEnabled(node: GraphNode, enabled: boolean): void {
    const api = 'graphExec.setEnabled';
    const id = this.node(api, node);
    if (typeof enabled !== 'boolean') throw wrongKind(api, 'enabled', enabled, 'true or false');
    guarded(() => environment().binding.graphExecSetEnabled(this.use(api), id, enabled));
  }

  async driverDot(options: DriverDotOptions = {}): Promise<string> {
    const api = 'graphExec.driverDot';
    const verbose = isVerbose(api, options);
    const handle = this.use(api);
    const { binding } = environment();
    return runTextTask((token) => binding.graphExecDriverDot(handle, verbose, token));
  }

  dispose(): void {
    if (!(#record in this)) throw notTheObject('graphExec.dispose', 'graph executable');
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** @internal The id of a node of its graph. @throws ArgumentError */
  node(api: string, node: GraphNode): number {
    const { device, owner } = this.home(api);
    device.runtime.noteOrigin();
    return nodeId(api, 'node', owner, node);
  }

  /** @internal */
  currentStream(api: string): Stream {
    const { device } = this.home(api);
    return device.runtime.currentStream(device);
  }

  /** @internal @throws ArgumentError for a proxy */
  home(api: string): ExecHome {
    if (!(#graph in this)) throw notTheObject(api, 'graph executable');
    return this.#graph;
  }
}

function isTarget(graph: Graph): graph is Graph & GraphTarget {
  return typeof graph === 'object' && graph !== null && 'held' in graph;
}
