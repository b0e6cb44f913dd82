import type { Stream } from '../../../src/index.js';
import type { Replay, Session } from '../session.js';
import { type Slot, type Step, slotsOf, submit } from '../step.js';

/**
 * Captures random steps on all streams, with waits where they are needed, and launches the graph.
 */
export async function captureReplay(s: Session): Promise<void> {
  const steps = Array.from({ length: s.random.integer(1, 12) }, () => s.randomStep());
  const notifications = s.random.integer(0, 2);
  const [origin, ...others] = shuffled(s);
  if (!origin) throw new Error('no stream');
  const mode = s.pick(s.modes);
  const graph = s.t.device.capture(() => record(s, [origin, ...others], steps, notifications), {
    stream: origin,
    mode,
  });
  const exec = s.isLikely(0.5) ? graph.instantiateSync() : await graph.instantiate();
  if (s.isLikely(0.9)) graph.dispose();
  s.note('capture');
  s.note('instantiate');
  s.note('recorded', steps.length);
  const name = `captured${s.operations}${mode}`;
  const replay: Replay = { name, exec, steps, nodes: [], disabled: new Set(), notifications };
  s.launch(replay);
  s.replays.push(replay);
  if (s.replays.length > 6) retireReplay(s);
}

/** Disposes an executable, also one that runs, or leaves it to the collector. */
export function retireReplay(s: Session): void {
  if (s.replays.length === 0) return;
  const replay = s.pick(s.replays);
  s.replays.splice(s.replays.indexOf(replay), 1);
  if (s.isLikely(0.5)) s.launch(replay);
  if (s.isLikely(0.9)) replay.exec.dispose();
  s.note('dispose');
}

/** Records on several streams of one capture: fork, steps in random places, join. */
export function record(
  s: Session,
  streams: readonly Stream[],
  steps: readonly Step[],
  notifications: number,
): void {
  const [origin, ...others] = streams;
  if (!origin) throw new Error('no stream');
  const lastUser = new Map<Slot, Stream>();
  for (const other of others) other.waitStream(origin);
  for (const step of steps) {
    const stream = s.pick(streams);
    for (const slot of slotsOf(step)) {
      const last = lastUser.get(slot) ?? origin;
      if (last !== stream) stream.waitStream(last);
      lastUser.set(slot, stream);
    }
    submit(s.t, stream, step);
  }
  for (let index = 0; index < notifications; index += 1) {
    s.pick(streams).notify(() => {
      s.notifications += 1;
    });
  }
  for (const other of others) origin.waitStream(other);
}

function shuffled(s: Session): readonly Stream[] {
  const rest = [...s.streams];
  const list: Stream[] = [];
  while (rest.length > 0) list.push(...rest.splice(s.random.integer(0, rest.length), 1));
  return list.slice(0, s.random.integer(1, list.length + 1));
}
