import type { PromptEvent, TokenEvent } from '@altstream/engine';
import type {
  Detokenizer,
  M3OutputParser,
  OutputDelta,
  StopMatcher,
} from '@altstream/minimax-m3-chat';
import { ApiError } from '../errors/index.js';
import type { ChoiceCounts } from '../openai/usage.js';
import type { WireEvent, WireFinish } from '../worker/messages.js';

/** How a choice ended. */
export interface ChoiceFinish {
  readonly reason: 'stop' | 'length' | 'tool_calls';
  /** The stop string or token that ended it, if one did. */
  readonly stop: string | number | null;
  readonly counts: ChoiceCounts;
}

/** What one event of the engine added to a choice. */
export interface ChoiceStep {
  readonly index: number;
  readonly deltas: readonly OutputDelta[];
  /** Tokens whose text, or part of it, is in the deltas or still held back. */
  readonly tokens: readonly TokenEvent[];
  readonly prompt?: PromptEvent;
  readonly finish?: ChoiceFinish;
  readonly error?: ApiError;
}

/** What a choice is made of. */
export interface ChoiceOptions {
  readonly index: number;
  readonly promptTokens: number;
  readonly detokenizer: Detokenizer;
  readonly stop: StopMatcher;
  /** Without a parser all text is content. */
  readonly parser: M3OutputParser | undefined;
  readonly onStep: (step: ChoiceStep) => void;
}

/**
 * One choice of a response: token events in, text and parsed deltas out. Stop strings and the parser
 * work on text, so they end a choice here; the engine is then told to stop.
 */
export class Choice {
  readonly #options: ChoiceOptions;
  readonly #counts = { completionTokens: 0, reasoningTokens: 0 };
  #abort: (() => void) | undefined;
  #isOver = false;

  constructor(options: ChoiceOptions) {
    this.#options = options;
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

  /** Takes an event of the engine. */
  onEvent(event: WireEvent): void {
    if (this.#isOver) return;
    if (event.type === 'prompt') this.#step({ prompt: event });
    else if (event.type === 'token') this.#onToken(event);
    else this.#onFinish(event);
  }

  #onToken(event: TokenEvent): void {
    const { detokenizer, stop, parser } = this.#options;
    this.#counts.completionTokens += 1;
    const { text, matched } = stop.push(detokenizer.push(event.id));
    const deltas = this.#parse(text);
    if (deltas.some(({ type }) => type === 'reasoning-delta')) this.#counts.reasoningTokens += 1;
    if (matched === undefined && !parser?.isDone) {
      this.#step({ deltas, tokens: [event] });
      return;
    }
    this.#step({ deltas, tokens: [event] });
    this.#finish('stop', matched ?? null, []);
    this.#abort?.();
  }

  #onFinish(event: WireFinish): void {
    const { reason, generatedTokens } = event;
    if (reason === 'stop' || reason === 'length') {
      const { detokenizer, stop } = this.#options;
      this.#counts.completionTokens = generatedTokens;
      const last = stop.push(detokenizer.finish());
      const rest = last.matched === undefined ? last.text + stop.finish() : last.text;
      this.#finish(reason, event.stop ?? null, this.#parse(rest));
      return;
    }
    this.#isOver = true;
    const message = event.error?.message ?? 'the request was aborted by the server';
    const code = event.error?.code === 'ENGINE_DEAD' ? 'engine_dead' : 'internal_error';
    const status = code === 'engine_dead' ? 503 : 500;
    this.#step({ error: new ApiError({ status, code, message }) });
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
    const { parser, promptTokens } = this.#options;
    const last = parser ? parser.finish(reason) : [];
    this.#step({
      deltas: [...deltas, ...last],
      finish: {
        reason: parser ? parser.result().finish : reason,
        stop,
        counts: { promptTokens, ...this.#counts },
      },
    });
  }

  #step(step: Partial<Omit<ChoiceStep, 'index'>>): void {
    const { index, onStep } = this.#options;
    onStep({ index, deltas: [], tokens: [], ...step });
  }
}
