/** Token counts of a request, as OpenAI names them. */
export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

/** What one choice counted. */
export interface ChoiceCounts {
  readonly promptTokens: number;
  /** Of the prompt: those that were found in the prefix cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/**
 * Sums choices: generated tokens over all of them, each prompt once however many choices it has.
 *
 * @param isPromptOnly nothing was wanted but the prompt: what computing it generated is nobody's
 */
export function usageOf(
  choices: readonly ChoiceCounts[],
  choicesPerPrompt: number,
  isPromptOnly = false,
): Usage {
  const firsts = choices.filter((_, index) => index % choicesPerPrompt === 0);
  const promptTokens = firsts.reduce((sum, choice) => sum + choice.promptTokens, 0);
  const cachedTokens = firsts.reduce((sum, choice) => sum + choice.cachedTokens, 0);
  const generated = choices.reduce((sum, choice) => sum + choice.completionTokens, 0);
  const completionTokens = isPromptOnly ? 0 : generated;
  const reasoningTokens = choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}
