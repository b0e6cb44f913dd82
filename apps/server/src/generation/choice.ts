import type { PromptEvent, TokenEvent } from '@altstream/engine';
import type {
  Detokenizer,
  M3OutputParser,
  OutputDelta,
  ParserFaults,
  StopMatch,
  StopMatcher,
} from '@altstream/minimax-m3-chat';
import { ApiError } from '../errors/index.js';
import { unavailable } from '../http/error-response.js';
import type { ChoiceCounts } from '../openai/usage.js';
import { costlyCode } from '../worker/grammar/mask-budget.js';
import type { WireEvent, WireFinish } from '../worker/messages.js';

/** How a choice ended. */
export interface ChoiceFinish {
  readonly reason: 'stop' | 'length' | 'tool_calls';
  /** The stop string or token that ended it, if one did. */
  readonly stop: string | number | null;
  readonly counts: ChoiceCounts;
  /** What was wrong with its markup. */
  readonly faults?: Readonly<ParserFaults>;
}

/** What one event of the engine added to a choice. */
export interface ChoiceStep {
  readonly index: number;
  readonly deltas: readonly OutputDelta[];
  /** Tokens whose text, or part of it, is in the deltas or still held back. */
  readonly tokens: readonly TokenEvent[];
  readonly prompt?: PromptEvent;
  /** What the choice counted so far, and it goes on counting; with a finish, that has it. */
  readonly counts?: ChoiceCounts;
  /** So many tokens of its prompt are about to be computed; such a step has nothing else. */
  readonly prefillTokens?: number;
  readonly finish?: ChoiceFinish;
  readonly error?: ApiError;
}

/** What a choice is made of. */
export interface ChoiceOptions {
  readonly index: number;
  readonly promptTokens: number;
  readonly detokenizer: Detokenizer;
  readonly stop: StopMatcher;
  /** Tokens before which no stop string applies. */
  readonly minTokens: number;
  /** Without a parser all text is content. */
  readonly parser: M3OutputParser | undefined;
  /** The request named the function to call, so the call is its answer and no wish of the model. */
  readonly isCallNamed?: boolean;
  readonly onStep: (step: ChoiceStep) => void;
  /** Told of each token that comes after the choice is over: the engine did not know yet. */
  readonly onLate?: () => void;
}

/**
 * One choice of a response: token events in, text and parsed deltas out. Stop strings and the
 * parser work on text, so they end a choice here; the engine is then told to stop.
 */
export class Choice {
  readonly #options: ChoiceOptions;
  readonly #counts: { -readonly [K in keyof ChoiceCounts]: ChoiceCounts[K] };
  /** Tokens that have shown nothing yet: markers, and text that is held back. */
  #silentTokens = 0;
  #abort: (() => void) | undefined;
  #isOver = false;

  constructor(options: ChoiceOptions) {
    this.#options = options;
    const { promptTokens } = options;
    this.#counts = { promptTokens, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  }

  /** Gives the choice the means to end its request. */
  attach(abort: () => void): void {
    this.#abort = abort;
    if (this.#isOver) abort();
  }

  /** Gives the choice up, without a last step. */
  abandon(): void {
    this.#isOver = true;
    this.#abort?.();
  }

  /** Takes an event of the engine. What goes wrong with one answer ends that answer only. */
  onEvent(event: WireEvent): void {
    if (this.#isOver) {
      if (event.type === 'token') this.#options.onLate?.();
      return;
    }
    try {
      this.#take(event);
    } catch (cause) {
      this.abandon();
      const message = 'the server failed to read the answer of the model';
      this.#step({ error: new ApiError({ status: 500, code: 'internal_error', message, cause }) });
    }
  }

  #take(event: WireEvent): void {
    if (event.type === 'prefill') this.#step({ prefillTokens: event.tokens });
    else if (event.type === 'prompt') this.#step({ prompt: event });
    else if (event.type === 'token') this.#onToken(event);
    else this.#onFinish(event);
  }

  #onToken(event: TokenEvent): void {
    const { parser } = this.#options;
    this.#counts.completionTokens += 1;
    this.#counts.cachedTokens += event.cachedTokens ?? 0;
    const { text, matched } = this.#textOf(event.id);
    const deltas = this.#parse(text);
    this.#countReasoning(deltas);
    const { index, onStep } = this.#options;
    onStep({ index, deltas, tokens: [event], counts: this.#counts });
    if (matched === undefined && !parser?.isDone) return;
    this.#finish('stop', matched ?? null, []);
    this.#abort?.();
  }

  /** The text that a token makes certain, and the stop string that it completes. */
  #textOf(id: number): StopMatch {
    const { detokenizer, stop, minTokens } = this.#options;
    const text = detokenizer.push(id);
    return this.#counts.completionTokens <= minTokens ? { text } : stop.push(text);
  }

  /**
   * A token counts as thought if what it shows, alone or with those before it, begins as thought.
   */
  #countReasoning(deltas: readonly OutputDelta[]): void {
    this.#silentTokens += 1;
    if (deltas.length === 0) return;
    if (deltas[0]?.type === 'reasoning-delta') this.#counts.reasoningTokens += this.#silentTokens;
    this.#silentTokens = 0;
  }

  #onFinish(event: WireFinish): void {
    const { reason, cachedTokens, generatedTokens } = event;
    if (reason === 'stop' || reason === 'length') {
      const { detokenizer, stop } = this.#options;
      this.#counts.cachedTokens = cachedTokens;
      this.#counts.completionTokens = generatedTokens;
      const last = stop.push(detokenizer.finish());
      const rest = last.matched === undefined ? last.text + stop.finish() : last.text;
      this.#finish(reason, event.stop ?? null, this.#parse(rest));
      return;
    }
    this.#isOver = true;
    const message = event.error?.message ?? 'the request was aborted by the server';
    const answer = answerTo(event);
    const comesBack = answer.code === 'queue_timeout';
    this.#step({
      error: comesBack ? unavailable(answer.code, message) : new ApiError({ ...answer, message }),
    });
  }

  #parse(text: string): readonly OutputDelta[] {
    const { parser } = this.#options;
    if (parser) return parser.push(text);
    return text === '' ? [] : [{ type: 'content-delta', text }];
  }

  #finish(
    reason: 'stop' | 'length',
    stop: string | number | null,
    deltas: readonly OutputDelta[],
  ): void {
    this.#isOver = true;
    const { parser } = this.#options;
    const last = parser ? parser.finish(reason) : [];
    const output = parser?.result();
    this.#step({
      deltas: [...deltas, ...last],
      finish: {
        reason: this.#reasonOf(output?.finish ?? reason),
        stop,
        counts: { ...this.#counts },
        ...(output ? { faults: output.faults } : {}),
      },
    });
  }

  #reasonOf(reason: ChoiceFinish['reason']): ChoiceFinish['reason'] {
    return reason === 'tool_calls' && this.#options.isCallNamed ? 'stop' : reason;
  }

  #step(step: Partial<Omit<ChoiceStep, 'index'>>): void {
    const { index, onStep } = this.#options;
    onStep({ index, deltas: [], tokens: [], ...step });
  }
}

/** Only a shutdown aborts a request that its client still wants. */
function answerTo({ reason, error }: WireFinish): { status: number; code: string } {
  if (reason === 'abort' || error?.code === 'ENGINE_CLOSED') {
    return { status: 503, code: 'shutting_down' };
  }
  if (error?.code === 'ENGINE_DEADLINE') {
    const isQueue = error.facts['stage'] === 'queue';
    return isQueue
      ? { status: 503, code: 'queue_timeout' }
      : { status: 504, code: 'deadline_exceeded' };
  }
  if (error?.code === 'ENGINE_GRAMMAR' && error.facts['reason'] === costlyCode) {
    return { status: 400, code: 'grammar_too_costly' };
  }
  return error?.code === 'ENGINE_DEAD'
    ? { status: 503, code: 'engine_dead' }
    : { status: 500, code: 'internal_error' };
}
