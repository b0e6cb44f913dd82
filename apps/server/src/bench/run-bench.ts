import { setTimeout as sleep } from 'node:timers/promises';
import { ExitError } from '../errors/index.js';
import type { BenchPrompt } from './bench-prompt.js';
import { type BenchTarget, type RequestRecord, sendBenchRequest } from './bench-request.js';

/** A run: what is sent where and when. */
export interface BenchPlan {
  readonly target: BenchTarget;
  /** The first of each dialogue, or all. */
  readonly prompts: readonly BenchPrompt[];
  /** When each prompt arrives, in milliseconds after the start. */
  readonly arrivalsMs: readonly number[];
  /**
   * Requests under way at once; those that arrive meanwhile wait in the client. A dialogue keeps
   * its place.
   */
  readonly maxConcurrency: number;
  /** Requests before the run that do not count. */
  readonly warmups: number;
  /** What those are; default: the prompts of the run. */
  readonly warmupPrompts?: readonly BenchPrompt[] | undefined;
  readonly signal: AbortSignal;
  readonly onDone?: (() => void) | undefined;
}

/** What a run saw. */
export interface BenchRun {
  /** Of every request that ended before the run was stopped. */
  readonly records: readonly RequestRecord[];
  readonly isStopped: boolean;
}

/**
 * Sends all prompts at their times and waits for the answers. The signal ends it with what it has.
 */
export async function runBench(plan: BenchPlan): Promise<BenchRun> {
  const { prompts, arrivalsMs, signal } = plan;
  await warmUp(plan);
  const places = new Places(plan.maxConcurrency);
  const records: RequestRecord[] = [];
  const started = performance.now();
  const under: Promise<void>[] = [];
  for (const [index, prompt] of prompts.entries()) {
    const arrivedAt = started + (arrivalsMs[index] ?? 0);
    await until(arrivedAt, signal);
    if (signal.aborted) break;
    const run = async (): Promise<void> => {
      const leave = await places.enter();
      await converse(plan, prompt, arrivedAt, (record) => records.push(record));
      leave();
    };
    under.push(run());
  }
  await Promise.all(under);
  return { records, isStopped: signal.aborted };
}

/**
 * A prompt and those that follow it. After one that failed the others would not be what they are
 * meant to be.
 */
async function converse(
  { target, signal, onDone }: BenchPlan,
  first: BenchPrompt,
  arrivedAt: number,
  keep: (record: RequestRecord) => void,
): Promise<void> {
  let due = arrivedAt;
  let turn = 1;
  for (let one: BenchPrompt | undefined = first; one && !signal.aborted; one = one.next) {
    const record = await sendBenchRequest(target, one, due, signal);
    if (!signal.aborted || record.error === undefined) keep({ ...record, turn });
    onDone?.();
    if (record.error !== undefined) return;
    due = record.endedAt;
    turn += 1;
  }
}

/** One after the other, so that they do not wait for each other where the run will not. */
async function warmUp({ target, warmups, signal, ...plan }: BenchPlan): Promise<void> {
  const prompts = plan.warmupPrompts ?? plan.prompts;
  for (let done = 0; done < warmups && !signal.aborted; done += 1) {
    const prompt = prompts[done % prompts.length];
    if (!prompt) return;
    const { error } = await sendBenchRequest(target, prompt, performance.now(), signal);
    if (error !== undefined && !signal.aborted) {
      throw new ExitError('usage', `the warm-up request failed: ${error}`);
    }
  }
}

async function until(time: number, signal: AbortSignal): Promise<void> {
  const wait = time - performance.now();
  if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
}

/** So many may be in; the others wait in the order in which they came. */
class Places {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns what gives the place to the next one */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
  }
}
