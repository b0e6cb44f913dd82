import { wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import type { CaptureOptions, Graph, Stream } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { describeValue } from '../errors/describe-value.js';
import { captureModeNumber } from '../graph/capture-mode.js';
import { NativeGraph } from '../graph/graph.js';
import { type GraphCallback, GraphCallbacks } from '../graph/graph-callbacks.js';
import { nodeIds } from '../graph/nodes/node-owner.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { publish } from '../trace/diagnostics.js';
import { markCapture } from '../trace/host-ranges.js';
import { settleFreed } from './captured-memory.js';

const statuses = ['none', 'active', 'invalidated'] as const;

// Callbacks of notify nodes by capture id, until the capture ends.
const callbacks = new Map<bigint, GraphCallback[]>();

// Graphs that captures add to, by capture id, until the capture ends.
const targets = new Map<bigint, NativeGraph>();

/** `stream.captureStatus`; reading it never invalidates. */
export function captureStatusOf(stream: Stream): 'none' | 'active' | 'invalidated' {
  const handle = stream.use('stream.captureStatus');
  return statuses[guarded(() => environment().binding.streamCaptureStatus(handle))] ?? 'none';
}

const captureNames: OptionNames<CaptureOptions> = { mode: true, into: true };
const intoNames: OptionNames<NonNullable<CaptureOptions['into']>> = { graph: true, after: true };

/** Of `stream.beginCapture` and `captureOrRun`. @throws ArgumentError */
export function checkCaptureOptions(api: string, options: CaptureOptions): void {
  checkOptions(api, 'options', options, captureNames);
}

/** `stream.beginCapture`, `device.capture` and `captureOrRun`, which have checked the names. */
export function beginCapture(stream: Stream, options: CaptureOptions): void {
  const api = 'stream.beginCapture';
  const mode = captureModeNumber(options.mode);
  if (mode === undefined) {
    const given = describeValue(options.mode);
    const detail = `\`mode\` is ${given}, expected thread_local, global or relaxed`;
    throw new ArgumentError({ api, number: 1, detail });
  }
  const handle = stream.use(api);
  const { binding } = environment();
  if (options.into === undefined) {
    guarded(() => binding.beginCapture(handle, mode));
  } else {
    checkOptions(api, 'into', options.into, intoNames);
    const { graph, after } = options.into;
    if (!(graph instanceof NativeGraph)) throw wrongKind(api, 'into.graph', graph, 'a graph');
    const nodes = nodeIds(api, graph.owner, after);
    guarded(() => binding.beginCaptureInto(handle, mode, graph.use(api), nodes));
    targets.set(stream.captureId ?? 0n, graph);
    graph.captureBegan();
  }
  tell('begin', stream, stream.captureId);
}

/** `stream.endCapture`. */
export function endCapture(stream: Stream): Graph {
  const native = stream.use('stream.endCapture');
  const id = stream.captureId;
  try {
    const handle = guarded(() => environment().binding.endCapture(native));
    tell('end', stream, id);
    const target = targets.get(id ?? 0n);
    const graph = target ?? new NativeGraph(handle, stream.device, 'captured');
    if (target) environment().binding.release(handle);
    forgetTarget(id);
    settleFreed(id, graph);
    const kept = takeCallbacks(id);
    if (kept) graph.held.keep(kept);
    return graph;
  } catch (error) {
    // A refused end (a fork, another thread) leaves the capture open; its callbacks stay.
    if (stream.captureId !== id) {
      forget(id);
      tell('end', stream, id, error);
    }
    throw error;
  }
}

/** `stream.captureDependencies`. */
export function captureDependencies(stream: Stream): readonly number[] | undefined {
  const handle = stream.use('stream.captureDependencies');
  if (captureStatusOf(stream) === 'none') return undefined;
  return [...guarded(() => environment().binding.captureFrontier(handle))];
}

/** `stream.setCaptureDependencies`. */
export function setCaptureDependencies(
  stream: Stream,
  nodes: readonly number[],
  how: 'replace' | 'add',
): void {
  const api = 'stream.setCaptureDependencies';
  const areIds = Array.isArray(nodes) && !nodes.includes(undefined) && nodes.every(isId);
  if (!areIds) throw wrongKind(api, 'nodes', nodes, 'an array of ids of nodes');
  if (how !== 'replace' && how !== 'add') throw wrongKind(api, 'how', how, 'replace or add');
  const handle = stream.use(api);
  const ids = Uint32Array.from(nodes);
  guarded(() => environment().binding.setCaptureFrontier(handle, ids, how === 'replace'));
}

function isId(id: unknown): boolean {
  return typeof id === 'number' && id >>> 0 === id;
}

/** `stream.abortCapture`. */
export function abortCapture(stream: Stream): void {
  const handle = stream.use('stream.abortCapture');
  const id = stream.captureId;
  guarded(() => environment().binding.abortCapture(handle));
  if (id !== undefined) tell('abort', stream, id);
  forget(id);
}

// Traces and subscribers of diagnostics learn of it.
function tell(
  phase: 'begin' | 'end' | 'abort',
  stream: Stream,
  captureId: bigint | undefined,
  error?: unknown,
): void {
  const name = `${stream.name}#${stream.id}`;
  markCapture(phase, name, captureId);
  publish('capture', { phase, stream: name, captureId, ...(error ? { error } : {}) });
}

/** Remembers a callback that was captured, so that the graph can keep it. */
export function noteCallback(stream: Stream, callback: GraphCallback): void {
  const id = stream.captureId ?? 0n;
  const known = callbacks.get(id);
  if (known) known.push(callback);
  else callbacks.set(id, [callback]);
}

function takeCallbacks(captureId: bigint | undefined): GraphCallbacks | undefined {
  const taken = callbacks.get(captureId ?? 0n);
  callbacks.delete(captureId ?? 0n);
  return taken && new GraphCallbacks(taken);
}

function forgetTarget(captureId: bigint | undefined): void {
  targets.get(captureId ?? 0n)?.captureEnded();
  targets.delete(captureId ?? 0n);
}

// What a capture that gave no graph had collected.
function forget(captureId: bigint | undefined): void {
  settleFreed(captureId);
  forgetTarget(captureId);
  const { completions } = environment();
  for (const { token } of callbacks.get(captureId ?? 0n) ?? []) completions.cancel(token);
  callbacks.delete(captureId ?? 0n);
}
