import { Event, type Stream, Tensor } from '@altstream/cuda-runtime';
import { type Ceiling, copyCeiling } from './ceilings.js';
import { threadsOf } from './report.js';

const wantedBytes = 2 ** 30;
const memoryShare = 16; // two buffers of a sixteenth each at most
const warmUps = 3;
const rounds = 15;

/**
 * TB/s read plus written by copies within the device's memory, the median of some: the ceiling of
 * every kernel that is bound by memory. Two buffers of 1 GiB, which no cache holds, unless the
 * device is small or `wanted` says otherwise.
 */
export async function deviceCopyTBps(stream: Stream, wanted = wantedBytes): Promise<number> {
  const { device } = stream;
  const most = device.limits.memoryBytes || wanted * memoryShare;
  const bytes = Math.min(wanted, Math.floor(most / memoryShare));
  const [from, to] = [0, 1].map(() => Tensor.allocate(device, [bytes], 'u8', { stream }));
  if (!from || !to) throw new Error('no buffers');
  stream.fill(from, 1);
  const times: number[] = [];
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const [start, end] = [0, 1].map(() => device.createEvent({ timing: true }));
    if (!start || !end) throw new Error('no events');
    stream.record(start);
    stream.copy(to, from);
    stream.record(end);
    await stream.synchronize();
    if (round >= warmUps) times.push(Event.elapsedMs(start, end));
    start.dispose();
    end.dispose();
  }
  from.dispose();
  to.dispose();
  times.sort((a, b) => a - b);
  const ms = times[Math.floor(times.length / 2)] ?? Number.NaN;
  return (2 * bytes) / ms / 1e9;
}

/** A ceiling as a run measured it. */
export interface MeasuredCeiling {
  /** Name in the results. */
  readonly name: string;
  readonly tbps: number;
}

/** `ceiling` of the CPU backend's threads, or copies within the memory of a GPU. */
export async function measureCeiling(
  stream: Stream,
  ceiling: Ceiling = copyCeiling,
): Promise<MeasuredCeiling> {
  const { runtime } = stream.device;
  if (runtime.backend === 'cuda') {
    return { name: copyCeiling.name, tbps: await deviceCopyTBps(stream) };
  }
  return { name: ceiling.name, tbps: await ceiling.measure(threadsOf(runtime)) };
}
