import type { ChoiceStep } from '../generation/choice.js';
import { fieldError } from './parse-body.js';
import type { SamplingFields } from './sampling-fields.js';
import { type ChoiceCounts, type Usage, usageOf } from './usage.js';

/** What of a request decides it. */
type StreamFields = Pick<SamplingFields, 'stream_options'> & {
  readonly max_tokens?: number | null | undefined;
};

/**
 * The `usage` of the chunks of a stream: none, null until a last chunk has the totals, or with
 * `continuous_usage_stats` what all choices counted so far.
 */
export class StreamUsage {
  readonly #choicesPerPrompt: number;
  readonly #counts: ChoiceCounts[] | undefined;
  readonly #isPromptOnly: boolean;
  /** Whether a last chunk has the totals. */
  readonly isWanted: boolean;

  /** @param promptTokens of each choice, in the order of the choices */
  constructor(
    { stream_options: options, max_tokens: maxTokens }: StreamFields,
    promptTokens: readonly number[],
    choicesPerPrompt: number,
  ) {
    this.#choicesPerPrompt = choicesPerPrompt;
    this.isWanted = options?.include_usage ?? false;
    this.#isPromptOnly = maxTokens === 0;
    if (!options?.continuous_usage_stats) return;
    const none = { cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
    this.#counts = promptTokens.map((tokens) => ({ promptTokens: tokens, ...none }));
  }

  /** Takes what a step counted; call before its chunks are made. */
  add({ index, counts, finish }: ChoiceStep): void {
    const known = finish?.counts ?? counts;
    if (this.#counts && known) this.#counts[index] = known;
  }

  /** What a chunk carries. */
  get field(): { readonly usage?: Usage | null } {
    if (!this.isWanted) return {};
    const counts = this.#counts;
    const usage = counts && usageOf(counts, this.#choicesPerPrompt, this.#isPromptOnly);
    return { usage: usage ?? null };
  }
}

/** Refuses options of a stream where nothing is streamed, and counts that no chunk would carry. */
export function checkStreamOptions(request: SamplingFields): void {
  const { stream, stream_options: options } = request;
  if (!options) return;
  if (!stream) throw fieldError('stream_options', 'only allowed when `stream` is true');
  if (options.continuous_usage_stats && !options.include_usage) {
    throw fieldError('stream_options.continuous_usage_stats', 'needs `include_usage: true`');
  }
}
