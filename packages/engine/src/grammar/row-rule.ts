import { GrammarError } from '../errors/index.js';
import type { Sequence } from '../sequence.js';
import { nextTurn } from '../step/next-turn.js';

/**
 * Why a row has no next token: its text is complete, its matcher failed, or its matcher is not
 * done.
 */
export type GrammarEnd = 'complete' | 'late' | Error;

/** What a row of a step may choose from; `undefined` = every id. */
export type RowRule =
  | undefined
  | { readonly mask: Int32Array; readonly end?: never }
  | { readonly end: GrammarEnd; readonly mask?: never };

/** How long the other rows of a step wait for a matcher when the step is computed. */
const patienceMs = 50;

/** What a matcher was asked, once for each token. */
interface Question {
  /** Generated tokens at that time. */
  readonly tokens: number;
  readonly vocabSize: number;
  readonly done: Promise<void>;
  answer?: { readonly rule: RowRule };
}

const questions = new WeakMap<Sequence, Question>();

/** The questions of a step's rows to their matchers. */
export class StepRules {
  readonly #rows: readonly (Question | undefined)[];
  readonly #sequences: readonly Sequence[];

  constructor(sequences: readonly Sequence[], vocabSize: number) {
    this.#sequences = sequences;
    this.#rows = sequences.map((sequence) => ask(sequence, vocabSize));
  }

  /** A rule a row; call when the step is computed, since it waits no longer than patience lasts. */
  async collect(): Promise<readonly RowRule[]> {
    // Who is held was waited for already. It is here when it lost its pages since, and was computed
    // anew.
    const open = this.#rows.filter((row, at) => row && !row.answer && !this.#sequences[at]?.isHeld);
    if (open.length > 0) await this.#wait(Promise.all(open.map((row) => row?.done)));
    return this.#rows.map((row) => {
      if (!row) return undefined;
      return row.answer ? row.answer.rule : { end: 'late' };
    });
  }

  async #wait(all: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([all, late]);
    clearTimeout(timer);
    // What came while this thread was busy counts, too.
    await Promise.race([all, nextTurn()]);
  }
}

/**
 * Asks the matchers of a step's rows, so that they work while the step is computed.
 *
 * @returns undefined if no row has a grammar
 */
export function askMatchers(
  sequences: readonly Sequence[],
  vocabSize: number,
): StepRules | undefined {
  if (!sequences.some(hasGrammar)) return undefined;
  return new StepRules(sequences, vocabSize);
}

/** Whether a matcher says what may follow in a sequence. */
export function hasGrammar({ parameters }: Sequence): boolean {
  return parameters.grammar !== undefined;
}

/**
 * Asks the matcher of a sequence ahead of its next step, as one that was late before is asked.
 *
 * @returns settles with its answer; undefined if that is there
 */
export function askAhead(sequence: Sequence): Promise<void> | undefined {
  const before = questions.get(sequence);
  const question = before && ask(sequence, before.vocabSize);
  return question?.answer ? undefined : question?.done;
}

function ask(sequence: Sequence, vocabSize: number): Question | undefined {
  if (!sequence.parameters.grammar) return undefined;
  const tokens = sequence.generated.length;
  const before = questions.get(sequence);
  if (before?.tokens === tokens) return before;
  const question: Question = {
    tokens,
    vocabSize,
    done: ruleOf(sequence, vocabSize).then((rule) => {
      question.answer = { rule };
    }),
  };
  questions.set(sequence, question);
  return question;
}

/** A matcher that fails is the matter of its own row. */
async function ruleOf({ parameters }: Sequence, vocabSize: number): Promise<RowRule> {
  try {
    const mask = await parameters.grammar?.mask();
    if (!mask) return undefined;
    const words = Math.ceil(vocabSize / 32);
    if (mask.length !== words) {
      throw new Error(`its mask has ${mask.length} words, expected ${words}`);
    }
    return hasBit(mask, vocabSize) ? { mask } : { end: 'complete' };
  } catch (cause) {
    return { end: new GrammarError(cause) };
  }
}

/** Bits behind the vocabulary mean nothing. */
function hasBit(mask: Int32Array, vocabSize: number): boolean {
  const whole = Math.floor(vocabSize / 32);
  for (let word = 0; word < whole; word += 1) if (mask[word] !== 0) return true;
  return ((mask[whole] ?? 0) & (2 ** (vocabSize % 32) - 1)) !== 0;
}
