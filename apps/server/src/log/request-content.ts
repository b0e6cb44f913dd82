import { type ChatTokenizer, Detokenizer } from '@altstream/minimax-m3-chat';
import type { ChoiceStep } from '../generation/choice.js';
import { CharacterBudget } from './character-budget.js';

/** Most characters of all texts of a request, and most of its answers. */
const mostOfRequest = 2 ** 18;
const mostOfAnswers = mostOfRequest / 2;

interface Answer {
  reasoning: string;
  content: string;
  readonly calls: { name: string; arguments: string }[];
}

/**
 * What a request asked and got: 65,536 characters of each text at most, and 262,144 of all, half of
 * which answers may take. Each prompt, choice and call counts as 64 more.
 */
export interface RequestContent {
  /** As the model got them, special tokens as their text; without those that found no room. */
  readonly prompts: readonly string[];
  /** One of each choice; without those that found no room. */
  readonly answers: readonly Readonly<Answer>[];
  /** Something found no room. */
  readonly isCut: boolean;
}

/**
 * Keeps the texts of a request for `--log-content` and `--otel-capture-content`; nothing else does.
 */
export class ContentRecorder {
  readonly #prompts: readonly (readonly number[])[];
  readonly #bytes: ChatTokenizer['bytes'];
  readonly #budget = new CharacterBudget(mostOfAnswers);
  readonly #answers: Answer[] = [];
  #content: RequestContent | undefined;

  /** @param prompts of each choice; one that several have is told once */
  constructor(
    prompts: readonly (readonly number[])[],
    { bytes }: { readonly bytes: ChatTokenizer['bytes'] },
  ) {
    this.#prompts = [...new Set(prompts)];
    this.#bytes = bytes;
    for (const _ of prompts) {
      if (!this.#budget.enter()) break;
      this.#answers.push({ reasoning: '', content: '', calls: [] });
    }
  }

  /** Takes what a step said. */
  add({ index, deltas }: ChoiceStep): void {
    const answer = this.#answers[index];
    if (!answer) return;
    for (const delta of deltas) {
      if (delta.type === 'content-delta') answer.content = this.#more(answer.content, delta.text);
      if (delta.type === 'reasoning-delta') {
        answer.reasoning = this.#more(answer.reasoning, delta.text);
      }
      // Once a call found no room none does, so those that are kept are the first ones.
      if (delta.type === 'tool-call-start' && this.#budget.enter()) {
        answer.calls.push({ name: this.#budget.take(delta.name), arguments: '' });
      }
      const call = delta.type === 'tool-call-delta' ? answer.calls[delta.index] : undefined;
      if (delta.type === 'tool-call-delta' && call) {
        call.arguments = this.#more(call.arguments, delta.text);
      }
    }
  }

  /** What came so far, the first time; prompts become text only then. */
  content(): RequestContent {
    this.#content ??= this.#told();
    return this.#content;
  }

  #told(): RequestContent {
    const budget = new CharacterBudget(mostOfRequest - mostOfAnswers + this.#budget.left);
    const prompts: string[] = [];
    for (const prompt of this.#prompts) {
      if (!budget.enter()) break;
      prompts.push(beginningOf(prompt, budget, new Detokenizer(this.#bytes)));
    }
    const isCut = budget.isExceeded || this.#budget.isExceeded;
    return { prompts, answers: this.#answers, isCut };
  }

  #more(text: string, more: string): string {
    return text + this.#budget.take(more, text.length);
  }
}

/** The text of as many tokens as the budget has room for. */
function beginningOf(
  prompt: readonly number[],
  budget: CharacterBudget,
  detokenizer: Detokenizer,
): string {
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string): boolean => {
    const kept = budget.take(piece, length);
    pieces.push(kept);
    length += kept.length;
    return kept.length === piece.length;
  };
  for (const id of prompt) {
    if (!add(detokenizer.push(id))) return pieces.join('');
  }
  add(detokenizer.finish());
  return pieces.join('');
}
