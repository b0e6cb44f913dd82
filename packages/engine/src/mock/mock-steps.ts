import { setTimeout } from 'node:timers/promises';
import { ParameterError } from '../errors/index.js';
import type { TokenLogprob } from '../generation-event.js';
import { askMatchers, type RowRule } from '../grammar/row-rule.js';
import type { GraphRunnerReport } from '../graph-runner.js';
import type { DecodeRunner, PrefillResult, PromptRunner } from '../parts/engine-parts.js';
import { completesPrompt, type PrefillPiece } from '../scheduler/batch.js';
import type { Sequence } from '../sequence.js';
import { nextTurn } from '../step/next-turn.js';
import { wantsAlternatives } from '../step/sampled-tokens.js';
import { noTokens, type TokenColumns } from '../step/token-columns.js';
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
    this.#last = result.catch(ignore);
    return result;
  }
}

function ignore(): void {}

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
  ): Promise<TokenColumns> {
    return this.behaviour.line.run(() => this.#pass(part, ms, sequences));
  }

  async #pass(
    part: 'decode' | 'prefill',
    ms: number,
    sequences: readonly Sequence[],
  ): Promise<TokenColumns> {
    const { faults, vocabSize } = this.behaviour;
    const { rows, extraMs, error } = faults.meet(part);
    const asked = askMatchers(sequences, vocabSize);
    // Even a step that takes no time lets messages and timers have their turn, as a device does.
    if (ms + extraMs > 0) await setTimeout(ms + extraMs);
    else await nextTurn();
    if (error) throw error;
    return this.#tokens(sequences, asked && (await asked.collect()), rows);
  }

  /** @param bad rows whose logits are no numbers, modulo the rows */
  #tokens(
    sequences: readonly Sequence[],
    rules: readonly RowRule[] | undefined,
    bad: readonly number[],
  ): TokenColumns {
    const rows = sequences.length;
    if (rows === 0) return noTokens;
    const { vocabSize } = this.behaviour;
    const ids = sequences.map((sequence, row) => this.#id(sequence, rules?.[row]));
    const logprobs = ids.map(() => 0);
    for (const row of bad) logprobs[row % rows] = Number.NaN;
    const top = sequences.some(wantsAlternatives)
      ? sequences.map(({ parameters }, row) =>
          certain(ids[row] ?? -1, parameters.logprobs ?? 0, vocabSize),
        )
      : undefined;
    return { ids, logprobs, top, ends: rules?.map((rule) => rule?.end) };
  }

  #id(sequence: Sequence, rule: RowRule): number {
    const { answer, vocabSize } = this.behaviour;
    if (rule?.end) return -1;
    // Nobody is told what is computed for a request that has ended.
    const said = sequence.state === 'finished' ? 0 : answer(sequence);
    const id = rule?.mask ? allowedId(said, rule.mask) : said;
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
      const expected = `an id from 0 to ${vocabSize - 1}`;
      throw new ParameterError({ parameter: 'answer', expected, received: id });
    }
    return id;
  }
}

/** Decode steps of a script. */
export class MockDecode extends MockStep implements DecodeRunner {
  #steps = 0;

  launch(sequences: readonly Sequence[]): Promise<TokenColumns> {
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
