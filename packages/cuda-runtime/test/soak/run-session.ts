import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../src/testing/index.js';
import { expectLive, liveOf } from '../makers/live-objects.js';
import type { TestRuntime } from '../makers/test-kernels.js';
import { act } from './actions/act.js';
import { Session } from './session.js';

/** What a session is to do. */
export interface SessionPlan {
  readonly seed: number;
  readonly operations: number;
  /** Other threads use the same runtime. */
  readonly isShared: boolean;
}

/** Operations done, by kind. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Works until the operations are done, checks all results, disposes everything in a random order
 * and looks whether something is left behind.
 * @param progress told the operations since the last call, now and then
 * @throws Error for a wrong result, a refusal that was not planned, or a leak
 */
export async function runSession(
  t: TestRuntime,
  plan: SessionPlan,
  progress: (counts: Counts) => void,
): Promise<void> {
  t.runtime.currentStream(); // made at the first use, and it stays
  globalThis.gc?.();
  const before = liveOf(t);
  await work(t, plan, progress);
  await expectLive(t, before);
}

// A function of its own, so that nothing of the session is held when it returns.
async function work(
  t: TestRuntime,
  plan: SessionPlan,
  progress: (counts: Counts) => void,
): Promise<void> {
  const session = new Session(t, seededRandom(plan.seed), plan.isShared);
  const report = () => {
    progress(Object.fromEntries(session.counts));
    session.counts.clear();
  };
  for (let done = 0, turn = 0; done < plan.operations; turn += 1) {
    await act(session);
    if (turn % 8 !== 0) continue;
    await session.settle();
    done += session.operations;
    report();
  }
  await finish(session);
  report();
}

/** Checks the contents of all buffers and that every callback came, then disposes everything. */
async function finish(s: Session): Promise<void> {
  for (const slot of s.slots) s.verify(slot);
  for (const replay of s.replays.slice(0, 2)) s.launch(replay);
  await s.settle();
  await s.t.device.synchronize();
  for (let wait = 0; s.notifications < s.expectedNotifications && wait < 500; wait += 1) {
    await delay(10);
  }
  if (s.notifications !== s.expectedNotifications) {
    throw new Error(`${s.notifications} callbacks of notify, expected ${s.expectedNotifications}`);
  }
  for (const replay of s.replays) s.launch(replay); // they run while everything is disposed
  const objects: Disposable[] = [
    ...s.slots.map(({ tensor }) => tensor),
    ...s.replays.map(({ exec }) => exec),
    ...s.streams,
    ...s.hosts,
  ].map((object) => ({ [Symbol.dispose]: () => object.dispose() }));
  while (objects.length > 0) {
    const [object] = objects.splice(s.random.integer(0, objects.length), 1);
    object?.[Symbol.dispose]();
  }
  s.note('dispose');
  await s.t.device.synchronize();
}
