import type { Stream } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { type CaptureOptions, captureModeNumber } from '../graph/capture-options.js';
import { Graph } from '../graph/graph.js';
import { GraphCallbacks } from '../graph/graph-callbacks.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { publish } from '../trace/diagnostics.js';
import { markCapture } from '../trace/host-ranges.js';

const statuses = ['none', 'active', 'invalidated'] as const;

// Callbacks of notify nodes by capture id, until the capture ends.
const callbacks = new Map<bigint, number[]>();

/** `stream.captureStatus`; reading it never invalidates. */
export function captureStatusOf(stream: Stream): 'none' | 'active' | 'invalidated' {
  const handle = stream.use('stream.captureStatus');
  return statuses[guarded(() => environment().binding.streamCaptureStatus(handle))] ?? 'none';
}

/** `stream.beginCapture`. */
export function beginCapture(stream: Stream, options: CaptureOptions): void {
  const mode = captureModeNumber(options.mode);
  if (mode === undefined) {
    const detail = `\`mode\` is ${String(options.mode)}, expected thread_local, global or relaxed`;
    throw new ArgumentError({ api: 'stream.beginCapture', number: 1, detail });
  }
  const handle = stream.use('stream.beginCapture');
  guarded(() => environment().binding.beginCapture(handle, mode));
  tell('begin', stream, stream.captureId);
}

/** `stream.endCapture`. */
export function endCapture(stream: Stream): Graph {
  const id = stream.captureId;
  const native = stream.use('stream.endCapture');
  try {
    const handle = guarded(() => environment().binding.endCapture(native));
    const { device, runtime } = stream;
    tell('end', stream, id);
    const home = {
      currentStream: () => runtime.currentStream(device),
      checkRaces: () => runtime.checkRaces(),
    };
    return new Graph(handle, home, takeCallbacks(id));
  } catch (error) {
    // A refused end (a fork, another thread) leaves the capture open; its callbacks stay.
    if (stream.captureId !== id) {
      dropCallbacks(id);
      tell('end', stream, id, error);
    }
    throw error;
  }
}

/** `stream.abortCapture`. */
export function abortCapture(stream: Stream): void {
  const id = stream.captureId;
  const handle = stream.use('stream.abortCapture');
  guarded(() => environment().binding.abortCapture(handle));
  if (id !== undefined) tell('abort', stream, id);
  dropCallbacks(id);
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
export function noteCallback(stream: Stream, token: number): void {
  const id = stream.captureId ?? 0n;
  const tokens = callbacks.get(id);
  if (tokens) tokens.push(token);
  else callbacks.set(id, [token]);
}

function takeCallbacks(captureId: bigint | undefined): GraphCallbacks | undefined {
  const tokens = callbacks.get(captureId ?? 0n);
  callbacks.delete(captureId ?? 0n);
  return tokens && new GraphCallbacks(tokens);
}

// The callbacks of a capture that gave no graph.
function dropCallbacks(captureId: bigint | undefined): void {
  for (const token of callbacks.get(captureId ?? 0n) ?? []) environment().completions.cancel(token);
  callbacks.delete(captureId ?? 0n);
}
