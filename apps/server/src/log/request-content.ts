import type { ChoiceStep } from '../generation/choice.js';

/** Longest that is kept of a text. */
const mostCharacters = 2 ** 16;

interface Answer {
  reasoning: string;
  content: string;
  readonly calls: { name: string; arguments: string }[];
}

/** What a request asked and got, each text cut at 65,536 characters. */
export interface RequestContent {
  /** As the model got them, special tokens as their text. */
  readonly prompts: readonly string[];
  /** One of each choice. */
  readonly answers: readonly Readonly<Answer>[];
}

/**
 * Keeps the texts of a request for `--log-content` and `--otel-capture-content`; nothing else does.
 */
export class ContentRecorder {
  readonly #prompts: readonly (readonly number[])[];
  readonly #answers: Answer[];

  /** @param prompts of each choice; one that several have is told once */
  constructor(prompts: readonly (readonly number[])[]) {
    this.#prompts = [...new Set(prompts)];
    this.#answers = prompts.map(() => ({ reasoning: '', content: '', calls: [] }));
  }

  /** Takes what a step said. */
  add({ index, deltas }: ChoiceStep): void {
    const answer = this.#answers[index];
    if (!answer) return;
    for (const delta of deltas) {
      if (delta.type === 'content-delta') answer.content = joined(answer.content, delta.text);
      if (delta.type === 'reasoning-delta') answer.reasoning = joined(answer.reasoning, delta.text);
      if (delta.type === 'tool-call-start') answer.calls.push({ name: delta.name, arguments: '' });
      const call = answer.calls.at(-1);
      if (delta.type === 'tool-call-delta' && call) {
        call.arguments = joined(call.arguments, delta.text);
      }
    }
  }

  /** What came so far. */
  content(decode: (ids: readonly number[]) => string): RequestContent {
    // A token is one character at least, but for parts of one.
    const prompts = this.#prompts.map((ids) => joined('', decode(ids.slice(0, mostCharacters))));
    return { prompts, answers: this.#answers };
  }
}

function joined(text: string, more: string): string {
  return text.length >= mostCharacters ? text : (text + more).slice(0, mostCharacters);
}
