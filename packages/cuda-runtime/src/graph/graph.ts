import { checkFlag, wrongKind, wrongStream } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type {
  Device,
  DeviceBuffer,
  Graph,
  GraphExec,
  InstantiateOptions,
  Kernel,
  KernelParams,
  Memory,
  Tensor,
} from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { LaunchConfig } from '../launch/launch-config.js';
import type { NativeCallback } from '../launch/native-callback.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { runTask } from '../native/task.js';
import { checkRacesBehind } from '../races.js';
import type { Event } from '../stream/event.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { hostRange } from '../trace/host-ranges.js';
import { Condition } from './condition.js';
import { NativeGraphExec } from './exec/graph-exec.js';
import type { EdgeOptions, GraphEdge, GraphJson, GraphNode } from './graph-node.js';
import { HeldObjects } from './held-objects.js';
import { addConditional } from './nodes/add-conditional.js';
import { addAlloc, addFree } from './nodes/add-memory.js';
import * as work from './nodes/add-work.js';
import { edgePort } from './nodes/edge-port.js';
import { nodeId, nodeIds, ownNode } from './nodes/node-owner.js';
import {
  type DotOptions,
  type DriverDotOptions,
  graphToDot,
  isVerbose,
} from './pictures/graph-dot.js';
import { graphToSvg } from './pictures/graph-svg.js';

const ifNames: OptionNames<{ else?: boolean }> = { else: true };
const instantiateNames: OptionNames<InstantiateOptions> = {
  autoFreeOnLaunch: true,
  useNodePriority: true,
  upload: true,
};

/** What a graph and its bodies have in common, since the JSON of each contains that of others. */
interface GraphChanges {
  count: number;
  /** Captures that add to one of them now. */
  captures: number;
}

/** The one implementation of `Graph`. */
export class NativeGraph implements Graph {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly device: Device;
  readonly origin: Graph['origin'];
  /**
   * @internal Stands for the graph where its nodes are checked: executables must not keep the
   * graph.
   */
  readonly owner: object = {};
  /** @internal What lives as long as the graph or an executable of it. */
  readonly held: HeldObjects;
  readonly #record: NativeRecord;
  readonly #changes: GraphChanges;
  #json: GraphJson | undefined;
  #jsonChanges = 0;

  /** @internal Made by `device.createGraph`, captures and conditional nodes. */
  constructor(
    handle: Handle,
    device: Device,
    origin: Graph['origin'],
    held = new HeldObjects(),
    changes: GraphChanges = { count: 0, captures: 0 },
  ) {
    this.#record = new NativeRecord(this, handle, 'graph');
    this.device = device;
    this.origin = origin;
    this.held = held;
    this.#changes = changes;
  }

  /** @internal The native handle. @throws DisposedError */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'graph');
    if (api.startsWith('graph.add')) this.device.runtime.noteOrigin();
    return this.#record.use(api);
  }

  /** @internal */
  get isDisposed(): boolean {
    if (!(#record in this)) throw notTheObject('graph.isDisposed', 'graph');
    return this.#record.isReleased;
  }

  /** @internal The addon has added to it, or to a body of it. */
  changed(): void {
    this.#changes.count += 1;
  }

  /** @internal A capture adds to it until `captureEnded`. */
  captureBegan(): void {
    this.#changes.captures += 1;
  }

  /** @internal */
  captureEnded(): void {
    this.#changes.captures -= 1;
    this.changed();
  }

  get nodes(): readonly GraphNode[] {
    return this.toJSON().nodes;
  }

  get edges(): readonly GraphEdge[] {
    return this.toJSON().edges;
  }

  addKernel(
    kernel: Kernel,
    config: LaunchConfig,
    params: KernelParams,
    after?: readonly GraphNode[],
  ): GraphNode {
    return added(this, work.addKernel(this, { kernel, config, params }, after));
  }

  addCopy(
    destination: Memory,
    source: Memory,
    bytes?: number,
    after?: readonly GraphNode[],
  ): GraphNode {
    return added(this, work.addCopy(this, { destination, source, bytes }, after));
  }

  addFill(
    destination: Tensor | DeviceBuffer,
    byte: number,
    bytes?: number,
    after?: readonly GraphNode[],
  ): GraphNode {
    return added(this, work.addFill(this, { destination, byte, bytes }, after));
  }

  addEmpty(after?: readonly GraphNode[]): GraphNode {
    const api = 'graph.addEmpty';
    const ids = nodeIds(api, this.owner, after);
    return added(
      this,
      guarded(() => environment().binding.graphAddEmpty(this.use(api), ids)),
    );
  }

  addHost(callback: NativeCallback, after?: readonly GraphNode[]): GraphNode {
    return added(this, work.addHost(this, callback, after));
  }

  addNotify(callback: () => void, after?: readonly GraphNode[]): GraphNode {
    return added(this, work.addNotify(this, callback, after));
  }

  addEventRecord(event: Event, after?: readonly GraphNode[]): GraphNode {
    return added(this, work.addEvent(this, 'graph.addEventRecord', event, after));
  }

  addEventWait(event: Event, after?: readonly GraphNode[]): GraphNode {
    return added(this, work.addEvent(this, 'graph.addEventWait', event, after));
  }

  addChild(graph: Graph, after?: readonly GraphNode[]): GraphNode {
    const api = 'graph.addChild';
    if (!(graph instanceof NativeGraph)) throw wrongKind(api, 'graph', graph, 'a graph');
    const ids = nodeIds(api, this.owner, after);
    const child = graph.use(api);
    const id = guarded(() => environment().binding.graphAddChild(this.use(api), child, ids));
    this.held.take(graph.held);
    return added(this, id);
  }

  createCondition(initial = 0): Condition {
    const api = 'graph.createCondition';
    if (!Number.isInteger(initial) || initial < 0 || initial > 0xffff_ffff) {
      throw wrongKind(api, 'initial', initial, 'an integer from 0 to 2^32 - 1');
    }
    const handle = guarded(() => environment().binding.createCondition(this.use(api), initial));
    return new Condition(handle, initial);
  }

  addIf(
    condition: Condition,
    after?: readonly GraphNode[],
    options: { readonly else?: boolean } = {},
  ): { readonly node: GraphNode; readonly then: Graph; readonly else?: Graph } {
    checkOptions('graph.addIf', 'options', options, ifNames);
    const { else: hasElse = false } = options;
    checkFlag('graph.addIf', 'else', hasElse);
    const bodies = hasElse ? 2 : 1;
    const { id, graphs } = addConditional(this, 'graph.addIf', { condition, bodies }, after);
    const [taken = 0, other] = graphs;
    return {
      node: added(this, id),
      // biome-ignore lint/suspicious/noThenProperty: the pair of `else`; no function, so no promise
      then: this.#body(taken),
      ...(other === undefined ? {} : { else: this.#body(other) }),
    };
  }

  addWhile(
    condition: Condition,
    after?: readonly GraphNode[],
  ): { readonly node: GraphNode; readonly body: Graph } {
    const request = { condition, bodies: 1 };
    const { id, graphs } = addConditional(this, 'graph.addWhile', request, after);
    return { node: added(this, id), body: this.#body(graphs[0] ?? 0) };
  }

  addSwitch(
    condition: Condition,
    cases: number,
    after?: readonly GraphNode[],
  ): { readonly node: GraphNode; readonly cases: readonly Graph[] } {
    const request = { condition, bodies: cases };
    const { id, graphs } = addConditional(this, 'graph.addSwitch', request, after);
    return { node: added(this, id), cases: graphs.map((handle) => this.#body(handle)) };
  }

  addAlloc(
    bytes: number,
    after?: readonly GraphNode[],
    label = '',
  ): { readonly node: GraphNode; readonly buffer: DeviceBuffer } {
    const { id, buffer } = addAlloc(this, bytes, label, after);
    return { node: added(this, id), buffer };
  }

  addFree(buffer: DeviceBuffer, after?: readonly GraphNode[]): GraphNode {
    return added(this, addFree(this, buffer, after));
  }

  addDependency(from: GraphNode, to: GraphNode, options: EdgeOptions = {}): void {
    const api = 'graph.addDependency';
    const { programmatic, port } = edgePort(api, options);
    const ids = [nodeId(api, 'from', this.owner, from), nodeId(api, 'to', this.owner, to)] as const;
    const { binding } = environment();
    guarded(() => binding.graphAddDependency(this.use(api), ...ids, programmatic, port));
    this.changed();
  }

  clone(): Graph {
    const handle = guarded(() => environment().binding.graphClone(this.use('graph.clone')));
    return new NativeGraph(handle, this.device, this.origin, this.held.copy());
  }

  retain(object: object): void {
    const isObject =
      (typeof object === 'object' && object !== null) || typeof object === 'function';
    if (!isObject) throw wrongKind('graph.retain', 'object', object, 'an object');
    this.use('graph.retain');
    this.held.keep(object);
  }

  async instantiate(options: InstantiateOptions = {}): Promise<GraphExec> {
    const api = 'graph.instantiate';
    checkInstantiate(api, this.device, options);
    const handle = this.use(api);
    const { binding } = environment();
    const held = this.held.copy();
    const { autoFreeOnLaunch: autoFree = false, useNodePriority = true } = options;
    const made = await runTask((token) =>
      binding.instantiateAsync(handle, autoFree, useNodePriority, token),
    );
    return this.#exec(made, held, options);
  }

  instantiateSync(options: InstantiateOptions = {}): GraphExec {
    const api = 'graph.instantiate';
    checkInstantiate(api, this.device, options);
    const { binding } = environment();
    const { autoFreeOnLaunch: autoFree = false, useNodePriority = true } = options;
    const native = this.use(api);
    const handle = hostRange('instantiate', () =>
      guarded(() => binding.instantiate(native, autoFree, useNodePriority)),
    );
    return this.#exec(handle, this.held.copy(), options);
  }

  toJSON(): GraphJson {
    const handle = this.use('graph.toJSON');
    const { count, captures } = this.#changes;
    if (this.#json && this.#jsonChanges === count && captures === 0) return this.#json;
    this.#json = this.#parse(guarded(() => environment().binding.graphInfo(handle)));
    this.#jsonChanges = count;
    return this.#json;
  }

  toDot(options?: DotOptions): string {
    return graphToDot(this.toJSON(), options);
  }

  toSvg(): string {
    return graphToSvg(this.toJSON());
  }

  async driverDot(options: DriverDotOptions = {}): Promise<string> {
    const api = 'graph.driverDot';
    isVerbose(api, options);
    this.use(api);
    if (this.device.runtime.backend === 'cpu') {
      const detail = 'the cpu backend has no driver that could draw the graph';
      const hint = 'Use `graph.toDot()`, which is the same on every backend';
      throw new ArgumentError({ api, detail, hint });
    }
    // The driver knows executables only: graphs are ours until then.
    const exec = await this.instantiate();
    try {
      return await exec.driverDot(options);
    } finally {
      exec.dispose();
    }
  }

  dispose(): void {
    if (!(#record in this)) throw notTheObject('graph.dispose', 'graph');
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #body(handle: Handle): Graph {
    return new NativeGraph(handle, this.device, 'body', this.held, this.#changes);
  }

  #parse(text: string): GraphJson {
    const json = JSON.parse(text) as GraphJson;
    for (const node of json.nodes) ownNode(this.owner, node);
    return json;
  }

  #exec(handle: Handle, held: HeldObjects, { upload }: InstantiateOptions): GraphExec {
    const exec = new NativeGraphExec(handle, { owner: this.owner, device: this.device }, held);
    try {
      checkRacesBehind(this.device.runtime, 'graph.instantiate');
      if (upload) exec.upload(upload);
      return exec;
    } catch (error) {
      exec.dispose();
      throw error;
    }
  }
}

/** The node that the addon has added. */
function added(graph: NativeGraph, id: number): GraphNode {
  graph.changed();
  const text = guarded(() => environment().binding.graphNodeInfo(graph.use('graph.nodes'), id));
  return ownNode(graph.owner, JSON.parse(text) as GraphNode);
}

function checkInstantiate(api: string, device: Device, options: InstantiateOptions): void {
  checkOptions(api, 'options', options, instantiateNames);
  const { upload, autoFreeOnLaunch = false, useNodePriority = true } = options;
  checkFlag(api, 'autoFreeOnLaunch', autoFreeOnLaunch);
  checkFlag(api, 'useNodePriority', useNodePriority);
  if (upload === undefined) return;
  if (typeof upload?.use !== 'function') throw wrongKind(api, 'upload', upload, 'a stream');
  if (upload.device !== device) throw wrongStream(api, upload, upload.device, device);
}
