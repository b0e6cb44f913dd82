/** Times graphs that do the same work in different ways. */

import { Event, type GraphExec, type Stream } from '@altstream/cuda-runtime';

const turns = 4;
/** Replays of each graph in a turn, enqueued together: the device never waits for the host. */
const replaysInTurn = 5;
/** After so long no further turn begins, for devices that take seconds for a pass. */
const mostMs = 2000;

/** What a number of replays took. */
export interface ReplayTimes {
  /** Microseconds of one replay, of each graph. */
  readonly medians: readonly number[];
  /** Timed replays of each graph. */
  readonly replays: number;
}

/**
 * Replays the graphs one after the other, so that a change of clocks meets all of them. Each replay
 * is timed by itself, by the device's own clock where it has one.
 */
export async function replayTimes(
  graphs: readonly GraphExec[],
  stream: Stream,
): Promise<ReplayTimes> {
  const samples = graphs.map((): number[] => []);
  const events = Array.from({ length: replaysInTurn * graphs.length + 1 }, () =>
    stream.device.createEvent({ timing: true }),
  );
  try {
    let ms = 0;
    for (let turn = 0; turn < turns && ms < mostMs; turn++) {
      // Those before the first event hide the host's part of the ones behind it, and warm up.
      for (const graph of turn === 0 ? graphs : graphs.slice(-1)) graph.launch(stream);
      for (const [at, event] of events.entries()) {
        if (at > 0) graphs[indexOf(at, graphs.length)]?.launch(stream);
        stream.record(event);
      }
      await stream.synchronize();
      for (const [at, event] of events.entries()) {
        const before = events[at - 1];
        if (!before) continue;
        const elapsed = Event.elapsedMs(before, event);
        samples[indexOf(at, graphs.length)]?.push(elapsed * 1000);
        ms += elapsed;
      }
    }
  } finally {
    for (const event of events) event.dispose();
  }
  return { medians: samples.map(median), replays: samples[0]?.length ?? 0 };
}

/** Which graph comes at a place of a turn: each once in a round, and always another one first. */
function indexOf(place: number, count: number): number {
  const round = Math.floor((place - 1) / count);
  return (place - 1 + round) % count;
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.POSITIVE_INFINITY;
}
