import { checkCallback, wrongKind, wrongRuntime } from '../../arguments/faults.js';
import type { DeviceBuffer, Kernel, KernelParams, Memory, Tensor } from '../../contract.js';
import { fromNative } from '../../errors/from-native.js';
import { HostFunction } from '../../launch/host-function.js';
import { NativeKernel } from '../../launch/kernel.js';
import type { LaunchConfig } from '../../launch/launch-config.js';
import type { NativeCallback } from '../../launch/native-callback.js';
import { copyRange, fillRange } from '../../memory/ranges.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';
import { Event } from '../../stream/event.js';
import { GraphCallbacks } from '../graph-callbacks.js';
import type { GraphNode } from '../graph-node.js';
import type { GraphTarget } from './graph-target.js';
import { nodeIds } from './node-owner.js';

type After = readonly GraphNode[] | undefined;

/** `graph.addKernel`: the id of the node, as the others here. */
export function addKernel(
  graph: GraphTarget,
  launch: {
    readonly kernel: Kernel;
    readonly config: LaunchConfig;
    readonly params: KernelParams;
  },
  after: After,
): number {
  const api = 'graph.addKernel';
  const { kernel } = launch;
  if (!(kernel instanceof NativeKernel)) {
    throw wrongKind(api, 'kernel', kernel, 'a kernel of `module.kernel`');
  }
  const ids = nodeIds(api, graph.owner, after);
  const handle = graph.use(api);
  const native = kernel.encode(graph.device, launch.config, launch.params, api);
  return guarded(() => environment().binding.graphAddKernel(handle, native, ids));
}

/** `graph.addCopy`. */
export function addCopy(
  graph: GraphTarget,
  copy: {
    readonly destination: Memory;
    readonly source: Memory;
    readonly bytes: number | undefined;
  },
  after: After,
): number {
  const api = 'graph.addCopy';
  const { destination, source } = copy;
  const { to, from, bytes } = copyRange(api, graph.device, destination, source, copy.bytes);
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  const places = [to.handle, to.offset, from.handle, from.offset] as const;
  return guarded(() => binding.graphAddCopy(graph.use(api), ...places, bytes, ids));
}

/** `graph.addFill`. */
export function addFill(
  graph: GraphTarget,
  fill: {
    readonly destination: Tensor | DeviceBuffer;
    readonly byte: number;
    readonly bytes: number | undefined;
  },
  after: After,
): number {
  const api = 'graph.addFill';
  const range = fillRange(api, graph.device, fill.destination, fill.byte, fill.bytes);
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  const { to, byte, bytes } = range;
  return guarded(() =>
    binding.graphAddFill(graph.use(api), to.handle, to.offset, byte, bytes, ids),
  );
}

/** `graph.addHost`. */
export function addHost(graph: GraphTarget, callback: NativeCallback, after: After): number {
  const api = 'graph.addHost';
  if (!(callback instanceof HostFunction)) {
    throw wrongKind(api, 'callback', callback, 'a host function of `module.callback`');
  }
  const ids = nodeIds(api, graph.owner, after);
  const { binding } = environment();
  return guarded(() => binding.graphAddHost(graph.use(api), callback.use(api), ids));
}

/** `graph.addNotify`; the callback lives as long as the graph, an executable or a launch of it. */
export function addNotify(graph: GraphTarget, callback: () => void, after: After): number {
  const api = 'graph.addNotify';
  checkCallback(api, 'callback', callback);
  const ids = nodeIds(api, graph.owner, after);
  const { binding, completions } = environment();
  const handle = graph.use(api);
  const token = completions.notifyOften(callback, graph.device.runtime.notifications);
  try {
    const id = binding.graphAddNotify(handle, token, ids);
    graph.held.keep(new GraphCallbacks([{ token, callback }]));
    return id;
  } catch (error) {
    completions.cancel(token);
    throw fromNative(error);
  }
}

/** `graph.addEventRecord` and `graph.addEventWait`. */
export function addEvent(
  graph: GraphTarget,
  api: 'graph.addEventRecord' | 'graph.addEventWait',
  event: Event,
  after: After,
): number {
  if (!(event instanceof Event)) throw wrongKind(api, 'event', event, 'an event');
  const { runtime } = graph.device;
  if (event.owner !== runtime) throw wrongRuntime(api, 'event', runtime);
  const ids = nodeIds(api, graph.owner, after);
  const records = api === 'graph.addEventRecord';
  const { binding } = environment();
  return guarded(() => binding.graphAddEvent(graph.use(api), event.use(api), records, ids));
}
