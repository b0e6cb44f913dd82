import type { SettledOptions } from './engine-options.js';
import { PromptError } from './errors/index.js';
import type { ModelFacts } from './model.js';

/** The prompt as ids of the vocabulary that leave room for an answer. @throws PromptError */
export function checkPrompt(
  prompt: ArrayLike<number>,
  { model, maxModelLength }: SettledOptions<ModelFacts>,
): Int32Array {
  // Callers of JavaScript may pass anything.
  const ids = Int32Array.from((prompt as ArrayLike<number> | null | undefined) ?? []);
  if (ids.length === 0)
    throw new PromptError('empty', 'the prompt has no tokens, expected at least one');
  if (ids.length >= maxModelLength) {
    const detail = `${ids.length} tokens leave no room in a context of ${maxModelLength}`;
    throw new PromptError('too-long', `the prompt is too long: ${detail}; shorten it`);
  }
  const wrong = ids.findIndex(
    (id, index) => id !== prompt[index] || id < 0 || id >= model.vocabSize,
  );
  if (wrong >= 0) {
    const detail = `token ${wrong} of the prompt is ${String(prompt[wrong])}`;
    throw new PromptError('token-id', `${detail}, expected an id from 0 to ${model.vocabSize - 1}`);
  }
  return ids;
}
