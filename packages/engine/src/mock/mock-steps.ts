import { setImmediate, setTimeout } from 'node:timers/promises';
import { ParameterError } from '../errors/index.js';
import type { TokenLogprob } from '../generation-event.js';
import { askMatchers, type RowRule } from '../grammar/row-rule.js';
import type { GraphRunnerReport } from '../graph-runner.js';
import type { DecodeRunner, PrefillResult, PromptRunner } from '../parts/engine-parts.js';
import { completesPrompt, type PrefillPiece } from '../scheduler/batch.js';
import type { Sequence } from '../sequence.js';
import type { SampledToken } from '../step/sampled-token.js';
import type { MockAnswer } from './mock-answer.js';
import type { MockFaults } from './mock-faults.js';

/** What the steps of a mock do. */
export interface MockBehaviour {
  readonly vocabSize: number;
  readonly answer: MockAnswer;
  readonly faults: MockFaults;
  /** Milliseconds of a decode step. */
  readonly decodeMs: number;
  /** Milliseconds of a prompt step for each of its tokens. */
  readonly prefillMsPerToken: number;
  /** Where the steps of both runners queue up. */
  readonly line: MockLine;
}

/** One step after the other, in the order in which they were launched, as on a device. */
export class MockLine {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#last.then(step);
    // One that fails is the matter of its own step.
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Lets the time of a step go by and takes its tokens from a script. */
class MockStep {
  protected readonly behaviour: MockBehaviour;

  constructor(behaviour: MockBehaviour) {
    this.behaviour = behaviour;
  }

  /** Nothing is on a device. */
  forget(): void {}

  protected pass(
    part: 'decode' | 'prefill',
    ms: number,
    sequences: readonly Sequence[],
  ): Promise<SampledToken[]> {
    return this.behaviour.line.run(() => this.#pass(part, ms, sequences));
  }

  async #pass(
    part: 'decode' | 'prefill',
    ms: number,
    sequences: readonly Sequence[],
  ): Promise<SampledToken[]> {
    const { faults, vocabSize } = this.behaviour;
    const { rows, extraMs, error } = faults.meet(part);
    const asked = askMatchers(sequences, vocabSize);
    // Even a step that takes no time lets messages and timers have their turn, as a device does.
    if (ms + extraMs > 0) await setTimeout(ms + extraMs);
    else await setImmediate();
    if (error) throw error;
    const bad = new Set(rows.map((row) => row % sequences.length));
    const rules = (await asked?.collect()) ?? [];
    return sequences.map((sequence, row) => this.#token(sequence, rules[row], bad.has(row)));
  }

  #token(sequence: Sequence, rule: RowRule, isBad: boolean): SampledToken {
    const { answer, vocabSize } = this.behaviour;
    if (rule?.end) return { id: -1, logprob: 0, top: [], end: rule.end };
    // Nobody is told what is computed for a request that has ended.
    const said = sequence.state === 'finished' ? 0 : answer(sequence);
    const id = rule?.mask ? allowedId(said, rule.mask) : said;
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
      const expected = `an id from 0 to ${vocabSize - 1}`;
      throw new ParameterError({ parameter: 'answer', expected, received: id });
    }
    const top = certain(id, sequence.parameters.logprobs ?? 0, vocabSize);
    return { id, logprob: isBad ? Number.NaN : 0, top };
  }
}

/** Decode steps of a script. */
export class MockDecode extends MockStep implements DecodeRunner {
  #steps = 0;

  launch(sequences: readonly Sequence[]): Promise<SampledToken[]> {
    this.#steps += 1;
    return this.pass('decode', this.behaviour.decodeMs, sequences);
  }

  /** There are no graphs. */
  describe(): GraphRunnerReport {
    const none = { fedSteps: 0, changedSteps: 0, workspaceBytes: 0 };
    return { buckets: [], dropped: [], eagerSteps: this.#steps, ...none };
  }
}

/** Prompt steps of a script. */
export class MockPrefill extends MockStep implements PromptRunner {
  readonly workspaceBytes = 0;

  async launch(pieces: readonly PrefillPiece[]): Promise<PrefillResult> {
    const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
    const complete = pieces.filter(completesPrompt).map(({ sequence }) => sequence);
    const ms = tokens * this.behaviour.prefillMsPerToken;
    const first = await this.pass('prefill', ms, complete);
    return { first, reports: pieces.flatMap((piece) => this.#reports(piece)) };
  }

  /** Every token of a prompt was as certain as those of the answers are. */
  #reports({ sequence, start, tokens }: PrefillPiece): PrefillResult['reports'] {
    const count = sequence.parameters.promptLogprobs;
    if (count === undefined) return [];
    const end = Math.min(start + tokens, sequence.prompt.length - 1);
    const begin = Math.max(start, sequence.reportedPrompt);
    if (begin >= end) return [];
    const next = sequence.prompt.subarray(begin + 1, end + 1);
    const { vocabSize } = this.behaviour;
    const certainty = (id: number) => ({ logprob: 0, top: certain(id, count, vocabSize) });
    return [{ sequence, tokens: Array.from(next, certainty) }];
  }
}

/** What the script says if the grammar allows it, else the lowest id that it does. */
function allowedId(id: number, mask: Int32Array): number {
  const isAllowed = (one: number) => ((mask[one >> 5] ?? 0) & (1 << (one & 31))) !== 0;
  if (isAllowed(id)) return id;
  let lowest = 0;
  while (!isAllowed(lowest)) lowest += 1;
  return lowest;
}

/** The token has all the probability; others, in the order of their ids, have none. */
function certain(id: number, count: number, vocabSize: number): readonly TokenLogprob[] {
  return Array.from({ length: Math.min(count, vocabSize) }, (_, rank) => ({
    id: (id + rank) % vocabSize,
    logprob: rank === 0 ? 0 : Number.NEGATIVE_INFINITY,
  }));
}
