import type { BenchPrompt, BenchTokenizer } from '../bench-prompt.js';
import type { SeededRandom } from '../seeded-random.js';
import { randomText } from './random-prompts.js';

/** Sizes of dialogues with tools; lengths are tokens. */
export interface ToolUseSizes {
  /** Requests of a dialogue. */
  readonly turns: number;
  /** Functions that each request offers. */
  readonly tools: number;
  /** Of the system message, which all dialogues share; 0 = there is none. */
  readonly systemTokens: number;
  readonly questionTokens: number;
  /** Of the result of a call. */
  readonly resultTokens: number;
  readonly outputTokens: number;
  /** Lengths of questions, results and answers vary by this share up and down. */
  readonly rangeRatio: number;
}

type Message = Readonly<Record<string, unknown>>;

/**
 * Dialogues as those of agents: a question, and in each further request one more call with its
 * result. Calls and results are written beforehand and do not depend on what the model says, so
 * that every server gets the same requests; what it says is measured and thrown away.
 *
 * @param count requests in all; the last dialogue may be shorter
 * @returns the first request of each dialogue, with those that follow it
 */
export function toolUseDialogues(
  count: number,
  sizes: ToolUseSizes,
  random: SeededRandom,
  tokenizer?: BenchTokenizer,
): BenchPrompt[] {
  const texts = new DialogueTexts(sizes, random, tokenizer);
  const tools = Array.from({ length: sizes.tools }, (_, index) => texts.tool(index));
  const { systemTokens, turns } = sizes;
  const system: Message[] =
    systemTokens === 0 ? [] : [{ role: 'system', content: texts.words(systemTokens) }];
  return Array.from({ length: Math.ceil(count / turns) }, (_, dialogue) => {
    const length = Math.min(turns, count - dialogue * turns);
    return chained(texts.turns(dialogue, length, system), tools);
  });
}

interface Turn {
  readonly messages: readonly Message[];
  readonly text: string;
  readonly outputTokens: number;
}

function chained(turns: readonly Turn[], tools: readonly unknown[]): BenchPrompt {
  return turns.reduceRight<BenchPrompt | undefined>(
    (next, { messages, ...turn }) => ({ ...turn, chat: { messages, tools }, next }),
    undefined,
  ) as BenchPrompt;
}

/** Writes what dialogues consist of. */
class DialogueTexts {
  readonly #sizes: ToolUseSizes;
  readonly #random: SeededRandom;
  readonly #tokenizer: BenchTokenizer | undefined;

  constructor(sizes: ToolUseSizes, random: SeededRandom, tokenizer: BenchTokenizer | undefined) {
    this.#sizes = sizes;
    this.#random = random;
    this.#tokenizer = tokenizer;
  }

  /** Random words of so many tokens. */
  words(tokens: number): string {
    return randomText(tokens, this.#random, this.#tokenizer);
  }

  tool(index: number): Message {
    const parameters = {
      type: 'object',
      properties: {
        query: { type: 'string', description: this.words(6) },
        limit: { type: 'integer' },
        order: { type: 'string', enum: ['newest', 'oldest', 'best'] },
      },
      required: ['query'],
    };
    const facts = { name: nameOf(index), description: this.words(12), parameters };
    return { type: 'function', function: facts };
  }

  /** The requests of a dialogue, each with all messages before it. */
  turns(dialogue: number, length: number, system: readonly Message[]): Turn[] {
    const { questionTokens, outputTokens, resultTokens } = this.#sizes;
    let text = this.#about(questionTokens);
    let messages = [...system, { role: 'user', content: text }];
    return Array.from({ length }, (_, turn) => {
      if (turn > 0) {
        text = this.#about(resultTokens);
        messages = [...messages, ...this.#call(`call_${dialogue}_${turn}`, text)];
      }
      return { messages, text, outputTokens: this.#length(outputTokens) };
    });
  }

  #call(id: string, result: string): Message[] {
    const order = ['newest', 'oldest', 'best'][this.#random.integer(0, 2)];
    const given = { query: this.words(4), limit: this.#random.integer(1, 20), order };
    const name = nameOf(this.#random.integer(0, this.#sizes.tools - 1));
    const called = { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
    return [
      { role: 'assistant', content: '', tool_calls: [called] },
      { role: 'tool', tool_call_id: id, content: result },
    ];
  }

  #about(tokens: number): string {
    return this.words(this.#length(tokens));
  }

  #length(around: number): number {
    const { rangeRatio } = this.#sizes;
    const least = Math.floor(around * (1 - rangeRatio));
    return Math.max(1, this.#random.integer(least, Math.ceil(around * (1 + rangeRatio))));
  }
}

function nameOf(index: number): string {
  return `lookup_${index}`;
}
