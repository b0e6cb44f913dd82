import { setTimeout as delay } from 'node:timers/promises';
import { checkOptions, checkSignal, type OptionNames } from '../arguments/options.js';
import type { Stream } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { DeadlockError } from '../errors/deadlock-error.js';
import { describeValue } from '../errors/describe-value.js';
import { fromNative } from '../errors/from-native.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded, guardedAs } from '../native/guarded.js';
import { checkRacesBehind } from '../races.js';
import type { WaitOptions } from './wait-options.js';

const waitNames: OptionNames<WaitOptions> = { signal: true, timeoutMs: true };
const syncNames: OptionNames<Pick<WaitOptions, 'timeoutMs'>> = { timeoutMs: true };

/** `stream.synchronize`. */
export function synchronize(stream: Stream, options: WaitOptions): Promise<void> {
  // Not `async`: an engine waits at each step, and that would be a third of what a step allocates.
  try {
    const over = wait(stream, options);
    const { runtime } = stream;
    if (!runtime.checksRaces) return over;
    return over.then(() => checkRacesBehind(runtime, 'stream.synchronize'));
  } catch (error) {
    return Promise.reject(error);
  }
}

function wait(stream: Stream, options: WaitOptions): Promise<void> {
  const api = 'stream.synchronize';
  checkOptions(api, 'options', options, waitNames);
  checkSignal(api, options.signal);
  const { timeoutMs, signal } = options;
  const handle = stream.use(api);
  if (timeoutMs === undefined) return waitFor(handle, signal);
  checkTimeout(api, timeoutMs);
  return waitAtMost(stream, timeoutMs, signal, (own) => waitFor(handle, own));
}

function waitFor(stream: Handle, signal: AbortSignal | undefined): Promise<void> {
  const { binding, completions } = environment();
  return completions.wait((token) => {
    try {
      binding.streamSynchronize(stream, token);
    } catch (error) {
      throw fromNative(error);
    }
  }, signal);
}

/** `stream.synchronizeSync`. */
export function synchronizeSync(stream: Stream, options: { readonly timeoutMs?: number }): void {
  const api = 'stream.synchronizeSync';
  checkOptions(api, 'options', options, syncNames);
  const { timeoutMs } = options;
  const handle = stream.use(api);
  const wait = timeoutMs === undefined ? -1 : Math.ceil(checkTimeout(api, timeoutMs));
  guarded(() => environment().binding.streamSynchronizeSync(handle, wait));
  checkRacesBehind(stream.runtime, api);
}

/**
 * `stream.ready`. The count and the loss are ours, so asking every millisecond costs no driver
 * call. On a lost device nothing can be submitted, however little is pending.
 */
export async function waitUntilBelow(stream: Stream, below: number): Promise<void> {
  if (!Number.isInteger(below) || below < 1) {
    const detail = `\`below\` is ${describeValue(below)}, expected a positive integer`;
    throw new ArgumentError({ api: 'stream.ready', detail });
  }
  const api = 'stream.ready';
  const { binding } = environment();
  for (;;) {
    const isReady = guarded(() => binding.streamPending(stream.use(api))) < below;
    guardedAs(api, () => binding.checkLoss(stream.runtime.use(api)));
    if (isReady) return;
    await delay(1);
  }
}

// Node's timers fire at once when asked for more.
const longestTimerMs = 2 ** 31 - 1;

function checkTimeout(api: string, timeoutMs: number): number {
  const isTime = typeof timeoutMs === 'number' && timeoutMs >= 0;
  if (isTime && timeoutMs <= Number.MAX_SAFE_INTEGER) return timeoutMs;
  const detail = `\`timeoutMs\` is ${describeValue(timeoutMs)}, expected milliseconds, 0 or more`;
  throw new ArgumentError({ api, detail, hint: 'Leave it out to wait for ever' });
}

async function waitAtMost(
  stream: Stream,
  timeoutMs: number,
  outer: AbortSignal | undefined,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), longestTimerMs));
  try {
    await wait(outer ? AbortSignal.any([outer, timeout]) : timeout);
  } catch (error) {
    if (!timeout.aborted || outer?.aborted) throw error;
    throw new DeadlockError({
      api: 'stream.synchronize',
      detail: `${stream.pending} operations are not complete after ${timeoutMs} ms`,
      stream: `${stream.name}#${stream.id}`,
      hint: 'Look for a kernel or host function that waits for work submitted later',
      cause: error,
    });
  }
}
