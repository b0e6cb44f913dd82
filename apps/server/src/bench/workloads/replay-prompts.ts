import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ExitError } from '../../errors/index.js';
import type { BenchPrompt, BenchTokenizer } from '../bench-prompt.js';
import { SeededRandom } from '../seeded-random.js';
import { randomText } from './random-prompts.js';

/** Requests of a recorded trace. */
export interface ReplayedRequests {
  readonly prompts: readonly BenchPrompt[];
  /** When each one came, in milliseconds after the first. */
  readonly arrivalsMs: readonly number[];
}

/** Which file, and how much of it. */
export interface ReplayOptions {
  readonly path: string;
  /** At most so many requests, from the first on. */
  readonly count: number;
  readonly seed: number;
}

const count = z.int().min(1);
const headLine = z.object({
  trace: z.literal('altstream-schedule'),
  options: z.object({ pageTokens: count }),
});
const addLine = z.object({
  add: z.int(),
  atMs: z.number(),
  promptTokens: count,
  maxTokens: count,
  /** Number of the sequence, then those of the full pages. */
  pages: z.array(z.int()),
});
type AddLine = z.infer<typeof addLine>;

/**
 * Requests as a file of `serve --record-trace` has them: their times, the tokens of their prompts
 * and of their answers, and which full pages their prompts share. The texts are random words, since
 * the file has none.
 *
 * @throws ExitError (usage)
 */
export async function replayedRequests(
  { path, count: most, seed }: ReplayOptions,
  tokenizer?: BenchTokenizer,
): Promise<ReplayedRequests> {
  const { pageTokens, requests } = await readTrace(path, most).catch((cause: Error) => {
    throw new ExitError('usage', `--dataset-path ${path}: ${cause.message}`, { cause });
  });
  const beginMs = requests[0]?.atMs ?? 0;
  const texts = new PromptTexts(pageTokens, seed, tokenizer);
  return {
    prompts: requests.map((request) => {
      const text = texts.write(request);
      const counted = tokenizer && { textTokens: tokenizer.encode(text).length };
      return { text, outputTokens: request.maxTokens, ...counted };
    }),
    arrivalsMs: requests.map(({ atMs }) => Math.max(0, atMs - beginMs)),
  };
}

async function readTrace(
  path: string,
  most: number,
): Promise<{ pageTokens: number; requests: AddLine[] }> {
  const requests: AddLine[] = [];
  let pageTokens: number | undefined;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line.trim() === '') continue;
    const value: unknown = JSON.parse(line);
    if (pageTokens === undefined) {
      const { data: head } = headLine.safeParse(value);
      if (!head) throw new Error('its first line is no head of a trace of --record-trace');
      pageTokens = head.options.pageTokens;
    } else if ('add' in Object(value)) requests.push(addLine.parse(value));
    if (requests.length === most) break;
  }
  if (pageTokens === undefined || requests.length === 0) {
    throw new Error('no request was recorded in it');
  }
  return { pageTokens, requests };
}

/** Writes prompts; a page of the same number is the same text. */
class PromptTexts {
  readonly #pageTokens: number;
  readonly #seed: number;
  readonly #tokenizer: BenchTokenizer | undefined;
  readonly #pages = new Map<number, string>();
  #prompts = 0;

  constructor(pageTokens: number, seed: number, tokenizer: BenchTokenizer | undefined) {
    this.#pageTokens = pageTokens;
    this.#seed = seed;
    this.#tokenizer = tokenizer;
  }

  /** The pages that the trace tells, and words of its own behind them. */
  write({ promptTokens, pages: [, ...numbers] }: AddLine): string {
    this.#prompts += 1;
    const shared = numbers.map((number) => this.#page(number)).join(' ');
    // Between two pages a tokenizer may find one token more or less.
    const own =
      promptTokens - (this.#tokenizer?.encode(shared).length ?? numbers.length * this.#pageTokens);
    if (own <= 0) return shared;
    const text = this.#random(own, -this.#prompts);
    return shared === '' ? text : `${shared} ${text}`;
  }

  #page(number: number): string {
    const text = this.#pages.get(number) ?? this.#random(this.#pageTokens, number);
    this.#pages.set(number, text);
    return text;
  }

  #random(tokens: number, which: number): string {
    const random = new SeededRandom(Math.imul(this.#seed + 1, 0x9e3779b1) ^ which);
    return randomText(tokens, random, this.#tokenizer);
  }
}
