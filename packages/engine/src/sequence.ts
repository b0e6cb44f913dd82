import type { FinishEvent, GenerationEvent, PromptEvent, TokenEvent } from './generation-event.js';
import type { SettledParameters } from './generation-parameters.js';
import type { StopCondition } from './stop-condition.js';

/** Where a sequence stands. */
export type SequenceState = 'waiting' | 'prefilling' | 'decoding' | 'finished';

/** What a sequence is made of; fixed for its life. */
export interface SequenceOptions {
  readonly id: number;
  readonly prompt: Int32Array;
  readonly parameters: SettledParameters;
  /** Most tokens to generate, settled against the context length. */
  readonly maxTokens: number;
  readonly pageTokens: number;
  readonly stopCondition: StopCondition;
  /** When its time is over, by the engine's clock. */
  readonly deadlineMs?: number | undefined;
  readonly emit: (event: GenerationEvent) => void;
}

/** One request on its way through the engine. */
export class Sequence {
  readonly id: number;
  readonly prompt: Int32Array;
  readonly parameters: SettledParameters;
  readonly maxTokens: number;
  /** Pages of the whole prompt and all generated tokens. */
  readonly mostPages: number;
  /** Lower comes sooner. */
  readonly priority: number;
  /** Who pays for it, among those who share the engine. */
  readonly tenant: string;
  readonly deadlineMs: number | undefined;
  /** Page of each block, in order. */
  readonly pages: number[] = [];
  readonly generated: number[] = [];
  readonly #options: SequenceOptions;
  readonly #promptLogprobs: PromptEvent['tokens'][number][] = [];
  state: SequenceState = 'waiting';
  /** Tokens whose keys and values are in the cache, or on their way. */
  computedTokens = 0;
  /** Of these, the ones whose step is over. */
  landedTokens = 0;
  /** The last step that it was part of. */
  lastStep = 0;
  /** Prompt tokens whose pages others had computed. */
  cachedTokens = 0;
  /**
   * Its prompt's length while the prompt's last page is another's, and what it computes of the
   * prompt is there already; 0 = it writes what it computes.
   */
  sharedTokens = 0;
  /** Counts the times that pages were replaced: the same number of pages may then be other ones. */
  tableVersion = 0;
  /** Why it ended; undefined until then. */
  outcome: FinishEvent['reason'] | undefined;
  /** Tokens to compute before it decodes: the prompt, and after a preemption what was generated. */
  prefillTokens: number;
  /** How often it was admitted: once, and once more for each preemption. */
  admissions = 0;
  /** Step of the last admission. */
  admittedStep = 0;
  /** Requests behind it that were admitted before it, as more of their prompts was there. */
  passedOver = 0;
  /** When it was queued, by the engine's clock. */
  arrivalMs = 0;
  /** It was part of a step, and whoever looks on knows. */
  hasStarted = false;
  /** Set from outside at any time; honoured at the next step border. */
  isAborted = false;
  /** Its matcher has not said yet what may come next; steps are made without it. */
  isHeld = false;

  constructor(options: SequenceOptions) {
    this.#options = options;
    this.id = options.id;
    this.prompt = options.prompt;
    this.parameters = options.parameters;
    this.maxTokens = options.maxTokens;
    this.prefillTokens = options.prompt.length;
    // The last generated token is never fed back, so its keys and values need no room.
    const tokens = options.prompt.length + options.maxTokens - 1;
    this.mostPages = Math.ceil(tokens / options.pageTokens);
    this.priority = options.parameters.priority;
    this.tenant = options.parameters.tenant;
    this.deadlineMs = options.deadlineMs;
  }

  /** Tokens that are known: the prompt, and what was generated. */
  get knownTokens(): number {
    return this.prompt.length + this.generated.length;
  }

  /** Tokens to compute before it decodes. */
  get remainingPrefill(): number {
    return this.prefillTokens - this.computedTokens;
  }

  /** A step that computes something of it is not over. */
  get isInFlight(): boolean {
    return this.landedTokens < this.computedTokens;
  }

  /** Computed tokens that are known and whose step is over: what others may rely on. */
  get certainTokens(): number {
    return Math.min(this.landedTokens, this.knownTokens);
  }

  /** Tokens that were generated or are on their way. */
  get drawnTokens(): number {
    return Math.max(this.generated.length, this.computedTokens + 1 - this.prompt.length);
  }

  /**
   * Prompt tokens whose log-probabilities were reported; a prefill after a preemption repeats none.
   */
  get reportedPrompt(): number {
    return this.#promptLogprobs.length;
  }

  /** Notes that it starts, or starts anew. */
  admit(step: number): void {
    this.admissions += 1;
    this.admittedStep = step;
  }

  /** A step computes so many tokens more of it. */
  launch(tokens: number, step: number): void {
    this.computedTokens += tokens;
    this.lastStep = step;
  }

  /** The token at a position of prompt and continuation. */
  tokenAt(position: number): number {
    const { length } = this.prompt;
    return (position < length ? this.prompt[position] : this.generated[position - length]) ?? -1;
  }

  /** Where the token at a position puts its keys and values; −1 = nowhere, they are there. */
  slotAt(position: number): number {
    if (position < this.sharedTokens) return -1;
    const { pageTokens } = this.#options;
    const page = this.pages[Math.floor(position / pageTokens)] ?? -1;
    return page < 0 ? -1 : page * pageTokens + (position % pageTokens);
  }

  /** Collects log-probabilities of prompt tokens as their chunks are computed. */
  addPromptLogprobs(tokens: PromptEvent['tokens']): void {
    if (this.state === 'finished') return;
    this.#promptLogprobs.push(...tokens);
    if (this.#promptLogprobs.length === this.prompt.length - 1) {
      this.#options.emit({ type: 'prompt', tokens: this.#promptLogprobs });
    }
  }

  /** Takes a sampled token; ends the sequence if a stop condition holds. */
  accept(event: TokenEvent): void {
    const { id } = event;
    this.generated.push(id);
    this.parameters.grammar?.accept(id);
    const stop = this.#options.stopCondition.after(id, this.generated.length);
    const isStopToken = stop?.reason === 'stop' && typeof stop.stop === 'number';
    const isHit = this.generated.length === 1 && this.cachedTokens > 0;
    if (!isStopToken) {
      this.#options.emit(isHit ? { ...event, cachedTokens: this.cachedTokens } : event);
    }
    if (stop) this.finish(stop.reason, stop.stop === undefined ? {} : { stop: stop.stop });
  }

  /** Ends the sequence and tells its reader; a second call does nothing. */
  finish(reason: FinishEvent['reason'], facts: Pick<FinishEvent, 'stop' | 'error'> = {}): void {
    if (this.state === 'finished') return;
    this.state = 'finished';
    this.outcome = reason;
    this.parameters.grammar?.dispose();
    this.#options.emit({
      type: 'finish',
      reason,
      ...facts,
      promptTokens: this.prompt.length,
      cachedTokens: this.cachedTokens,
      generatedTokens: this.generated.length,
    });
  }
}
