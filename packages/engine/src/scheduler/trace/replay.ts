import { isDeepStrictEqual } from 'node:util';
import { TraceError } from '../../errors/index.js';
import { settleParameters } from '../../generation-parameters.js';
import { PagePool } from '../../pages/page-pool.js';
import { PrefixCache } from '../../pages/prefix-cache.js';
import { Sequence } from '../../sequence.js';
import { StopCondition } from '../../stop-condition.js';
import { completesPrompt } from '../batch.js';
import { Scheduler } from '../scheduler.js';
import type {
  TraceAdd,
  TraceCommit,
  TraceDecision,
  TraceHead,
  TraceLate,
  TraceLine,
  TraceNext,
  TracePages,
} from './trace-line.js';

/** What a replay came to. */
export interface ReplayReport {
  /** Decisions that were made again. */
  readonly decisions: number;
  /** The first one that came out otherwise; undefined = all are the same. */
  readonly difference?: {
    /** Number of the line, from 1. */
    readonly line: number;
    readonly recorded: TraceDecision;
    readonly replayed: TraceDecision;
  };
}

/**
 * Makes the decisions of a recorded trace again, with a new scheduler and no model, and compares
 * them.
 *
 * @param trace lines of JSON, as the engine option `onTrace` got them
 * @throws TraceError for what is no trace
 */
export function replaySchedule(trace: string): ReplayReport {
  const lines = trace.split('\n').filter((line) => line.trim() !== '');
  const [first, ...rest] = lines.map(parseLine);
  if (
    !first ||
    !('trace' in first) ||
    first.trace !== 'altstream-schedule' ||
    first.version !== 3
  ) {
    throw new TraceError('line 1 is no head of a scheduling trace of version 3');
  }
  const replay = new Replay(first);
  let decisions = 0;
  for (const [index, line] of rest.entries()) {
    if ('add' in line) replay.add(line);
    else if ('commit' in line) replay.commit(line);
    else if ('late' in line) replay.late(line);
    else if ('flush' in line) replay.flush();
    else if ('next' in line) {
      decisions += 1;
      const replayed = replay.next(line);
      if (isDeepStrictEqual(replayed, line.decided)) continue;
      return { decisions, difference: { line: index + 2, recorded: line.decided, replayed } };
    } else throw new TraceError(`line ${index + 2} is of no known kind`);
  }
  return { decisions };
}

/** A scheduler that is told what another one was told. */
class Replay {
  readonly #pageTokens: number;
  readonly #scheduler: Scheduler;
  readonly #sequences = new Map<number, Sequence>();
  /** Full pages whose numbers each sequence was given. */
  readonly #numbered = new Map<number, number>();
  /** Sequences that ended, but maybe not their last step. */
  readonly #over = new Set<number>();
  #decided: TraceDecision | undefined;

  constructor({ options }: TraceHead) {
    const { pages, pageTokens, prefixCaching: isEnabled, ...limits } = options;
    const pool = new PagePool(pages);
    this.#pageTokens = options.pageTokens;
    this.#scheduler = new Scheduler({
      ...limits,
      cache: new PrefixCache({ pool, pageTokens, isEnabled }),
      onTrace: (text) => {
        const line = JSON.parse(text) as TraceLine;
        if ('next' in line) this.#decided = line.decided;
      },
    });
  }

  add(line: TraceAdd): void {
    const { add: id, atMs, promptTokens, maxTokens, priority, tenant, deadlineMs } = line;
    const parameters = settleParameters({
      seed: 0,
      priority,
      tenant: String(tenant),
      ...(line.wantsPrompt ? { promptLogprobs: 0 } : {}),
    });
    const sequence = new Sequence({
      id,
      prompt: new Int32Array(promptTokens),
      parameters,
      maxTokens,
      pageTokens: this.#pageTokens,
      deadlineMs: deadlineMs ?? undefined,
      stopCondition: new StopCondition(parameters, maxTokens),
      emit: () => undefined,
    });
    this.#sequences.set(id, sequence);
    this.#fill(line.pages);
    const end = Math.floor(promptTokens / this.#pageTokens) * this.#pageTokens;
    if (line.tail > 0) sequence.prompt[end] = line.tail;
    this.#scheduler.add(sequence, atMs);
  }

  commit({ commit, prefill, prefillMs, pages }: TraceCommit): void {
    for (const one of pages) this.#fill(one);
    const batch = {
      decode: commit.map((id) => this.#sequence(id)),
      prefill: prefill.map(([id, start, tokens]) => ({
        sequence: this.#sequence(id),
        start,
        tokens,
      })),
    };
    const complete = batch.prefill.filter(completesPrompt);
    this.#scheduler.commit(batch, prefillMs ?? undefined);
    const sampled = [...batch.decode, ...complete.map(({ sequence }) => sequence)];
    // Which tokens they were decides nothing; those that ended a sequence are told by the next
    // line.
    for (const { generated } of sampled) generated.push(0);
  }

  late({ late }: TraceLate): void {
    this.#scheduler.hold(this.#sequence(late));
  }

  next(line: TraceNext): TraceDecision {
    const { next: nowMs, backlog, landed, held = [], over, failed, pages } = line;
    for (const [id, sequence] of this.#sequences) sequence.isHeld = held.includes(id);
    for (const id of over) this.#sequence(id).finish(failed.includes(id) ? 'error' : 'stop');
    for (const one of pages) this.#fill(one);
    this.#scheduler.landed(landed);
    this.#scheduler.next(nowMs, backlog);
    for (const id of [...over, ...(this.#decided?.expired ?? [])]) this.#over.add(id);
    for (const id of this.#over) {
      if (this.#sequence(id).lastStep > landed) continue;
      this.#over.delete(id);
      this.#sequences.delete(id);
      this.#numbered.delete(id);
    }
    if (!this.#decided) throw new TraceError('the scheduler reported no decision');
    return this.#decided;
  }

  flush(): void {
    this.#scheduler.flush();
  }

  /** A page's number takes the place of its tokens: that is all that prefixes are compared by. */
  #fill([id, ...pages]: TracePages): void {
    const sequence = this.#sequence(id);
    const first = this.#numbered.get(id) ?? 0;
    pages.forEach((number, index) => {
      const position = (first + index) * this.#pageTokens;
      const { prompt, generated } = sequence;
      if (position < prompt.length) prompt[position] = number;
      else generated[position - prompt.length] = number;
    });
    this.#numbered.set(id, first + pages.length);
  }

  #sequence(id: number): Sequence {
    const sequence = this.#sequences.get(id);
    if (!sequence) throw new TraceError(`sequence ${id} is not there, or not any more`);
    return sequence;
  }
}

function parseLine(text: string, index: number): TraceLine {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line === 'object' && line !== null) return line as TraceLine;
  } catch {
    // The message below says which line.
  }
  throw new TraceError(`line ${index + 1} is no JSON object`);
}
