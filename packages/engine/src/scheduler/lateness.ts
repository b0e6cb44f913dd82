import { DeadlineError } from '../errors/index.js';
import type { Sequence } from '../sequence.js';

/**
 * Why the time of a sequence is over; undefined = it is not.
 *
 * @param queueTimeoutMs longest wait for the first admission; 0 = no limit
 */
export function lateness(
  sequence: Sequence,
  nowMs: number,
  queueTimeoutMs: number,
): DeadlineError | undefined {
  const { deadlineMs, arrivalMs, admissions } = sequence;
  if (deadlineMs !== undefined && nowMs >= deadlineMs) {
    const detail = `${sequence.generated.length} tokens were generated`;
    return new DeadlineError('request', `the time of the request is over; ${detail}`);
  }
  if (queueTimeoutMs === 0 || admissions > 0 || nowMs - arrivalMs < queueTimeoutMs)
    return undefined;
  const detail = `waited ${Math.round(nowMs - arrivalMs)} ms for a place, of ${queueTimeoutMs} at most`;
  return new DeadlineError('queue', `the request ${detail}; try again later`);
}
