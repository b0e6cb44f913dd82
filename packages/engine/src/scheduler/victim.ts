import type { Sequence } from '../sequence.js';

/** Steps after a return in which a sequence is not preempted again. */
const protectedSteps = 16;

/**
 * Who gives up its pages for another: the lowest priority, then whoever loses least, then the
 * latest. Never the only runner, nobody of a better priority than the one in need, and nobody that
 * came back in the last 16 steps.
 *
 * @param need the sequence that lacks a page; it may be the victim itself
 * @param step number of the step, or undefined to pass over the protection
 */
export function chooseVictim(
  running: readonly Sequence[],
  need: Sequence,
  step: number | undefined,
): Sequence | undefined {
  if (running.length < 2) return undefined;
  let victim: Sequence | undefined;
  for (const one of running) {
    if (one.priority < need.priority) continue;
    if (step !== undefined && isProtected(one, step)) continue;
    if (!victim || losesLess(one, victim)) victim = one;
  }
  return victim;
}

/** True if the first is to go before the second. */
export function losesLess(one: Sequence, other: Sequence): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  if (one.computedTokens !== other.computedTokens) return one.computedTokens < other.computedTokens;
  return one.id > other.id;
}

function isProtected({ admissions, admittedStep }: Sequence, step: number): boolean {
  return admissions > 1 && step - admittedStep < protectedSteps;
}
