import { setTimeout as delay } from 'node:timers/promises';
import { auditText } from './audit-text.js';
import type { TestRuntime } from './test-kernels.js';

/** Objects alive, by kind. */
export type Live = Readonly<Record<string, number>>;

/** Those of a runtime, whatever thread made them. */
export const liveOf = (t: TestRuntime): Live => t.runtime.stats().live;

/**
 * @throws Error if, after some collections, there are more than `before`; it says what holds them
 */
export async function expectLive(t: TestRuntime, before: Live, rounds = 300): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    if (grown(liveOf(t), before).length === 0) return;
    globalThis.gc?.();
    await delay(10);
  }
  const left = grown(liveOf(t), before);
  const counts = left.map(({ kind, more }) => `${more} × ${kind}`).join(', ');
  const kinds = left.map(({ kind }) => kind);
  throw new Error(`left behind: ${counts}; alive of these kinds:\n${auditText(t.runtime, kinds)}`);
}

function grown(now: Live, before: Live): readonly { kind: string; more: number }[] {
  return Object.entries(now)
    .map(([kind, count]) => ({ kind, more: count - (before[kind] ?? 0) }))
    .filter(({ more }) => more > 0);
}
