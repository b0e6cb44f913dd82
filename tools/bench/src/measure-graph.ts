import { type Device, Event, type GraphExec, type Stream } from '@altstream/cuda-runtime';
import { measure, type Timing } from './measure.js';

const sampleMs = 4;
const samples = 30;
const mostCalls = 256;

/**
 * Median and 95th percentile of `run` on a GPU, as it runs in a step: several calls are captured
 * into one graph, whose replays are timed with events on the stream. What the host needs to enqueue
 * a call is not in the time; what the device needs from one kernel to the next is.
 *
 * A `run` that returns a promise waits itself, and one that cannot be captured is enqueued; both
 * are timed as on the CPU.
 */
export async function measureGraph(stream: Stream, run: () => unknown): Promise<Timing> {
  const first = run();
  if (first instanceof Promise) {
    await first;
    return measure(stream, run);
  }
  await stream.synchronize();
  const one = captureCalls(stream, run, 1);
  if (!one) return measure(stream, run);
  await replayMs(stream, one);
  const once = Math.max(await replayMs(stream, one), 1e-4);
  one.dispose();
  const calls = Math.min(mostCalls, Math.max(1, Math.ceil(sampleMs / once)));
  const many = captureCalls(stream, run, calls);
  if (!many) return measure(stream, run);
  await replayMs(stream, many); // warm-up
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    times.push(((await replayMs(stream, many)) * 1000) / calls);
  }
  many.dispose();
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return { us: at(0.5), p95Us: at(0.95) };
}

/** Undefined when `run` cannot be captured. */
function captureCalls(stream: Stream, run: () => unknown, calls: number): GraphExec | undefined {
  const record = (): void => {
    for (let call = 0; call < calls; call += 1) run();
  };
  let graph: ReturnType<Device['capture']>;
  try {
    graph = stream.device.capture(record, { stream });
  } catch (error) {
    process.stderr.write(`not captured, timed as enqueued: ${String(error)}\n`);
    return undefined;
  }
  const exec = graph.instantiateSync();
  graph.dispose();
  return exec;
}

async function replayMs(stream: Stream, exec: GraphExec): Promise<number> {
  const [start, end] = [timed(stream), timed(stream)];
  stream.record(start);
  exec.launch(stream);
  stream.record(end);
  await stream.synchronize();
  const ms = Event.elapsedMs(start, end);
  start.dispose();
  end.dispose();
  return ms;
}

function timed(stream: Stream): Event {
  return stream.device.createEvent({ timing: true });
}
