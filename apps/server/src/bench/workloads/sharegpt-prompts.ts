import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { ExitError } from '../../errors/index.js';
import type { BenchPrompt, BenchTokenizer } from '../bench-prompt.js';
import type { SeededRandom } from '../seeded-random.js';

/** Which dialogues of a file become prompts, and how long their answers are. */
export interface ShareGptOptions {
  readonly path: string;
  readonly count: number;
  /** Default: as many tokens as the answer in the file has. */
  readonly outputTokens?: number | undefined;
}

/** Node's longest string is a little longer than this. */
const mostJsonBytes = 512 * 2 ** 20;
const charactersPerToken = 4;
/** As vLLM and sglang filter: neither trivial, nor beyond what small servers take. */
const limits = { least: 4, mostInput: 1024, mostTotal: 2048 };

/**
 * First questions of dialogues, in the format of ShareGPT: `{"conversations": [{"value": question},
 * {"value": answer}]}` in a JSON list, or one a line (.jsonl). Dialogues are drawn by the seed, and
 * drawn again when the file has fewer than wanted.
 *
 * @throws ExitError (usage)
 */
export async function shareGptPrompts(
  { path, count, outputTokens }: ShareGptOptions,
  random: SeededRandom,
  tokenizer?: BenchTokenizer,
): Promise<BenchPrompt[]> {
  const tokensOf = (text: string): number =>
    tokenizer ? tokenizer.encode(text).length : Math.ceil(text.length / charactersPerToken);
  const all = (await readDialogues(path).catch((cause: Error) => {
    throw new ExitError('usage', `--dataset-path ${path}: ${cause.message}`, { cause });
  })) as unknown[];
  const chosen: BenchPrompt[] = [];
  for (const dialogue of random.shuffled(all)) {
    const [question, answer] = turnsOf(dialogue);
    if (question === undefined || answer === undefined) continue;
    const input = tokensOf(question);
    const output = outputTokens ?? tokensOf(answer);
    if (input < limits.least || output < limits.least) continue;
    if (input > limits.mostInput || input + output > limits.mostTotal) continue;
    const counted = tokenizer && { textTokens: input };
    chosen.push({ text: question, outputTokens: output, ...counted });
    if (chosen.length === count) return chosen;
  }
  if (chosen.length === 0) {
    const expected =
      '{"conversations": [{"value": …}, {"value": …}]}, of 4 to 1024 tokens a question';
    throw new ExitError('usage', `--dataset-path ${path} has no dialogue ${expected}`);
  }
  return Array.from({ length: count }, (_, index) => chosen[index % chosen.length] as BenchPrompt);
}

async function readDialogues(path: string): Promise<unknown[]> {
  if (path.endsWith('.jsonl')) {
    const dialogues: unknown[] = [];
    for await (const line of createInterface({ input: createReadStream(path) })) {
      if (line.trim() !== '') dialogues.push(JSON.parse(line));
    }
    return dialogues;
  }
  const { size } = statSync(path);
  if (size > mostJsonBytes) {
    throw new Error("more than 512 MiB; write one dialogue a line first: jq -c '.[]' F > F.jsonl");
  }
  const file: unknown = JSON.parse(await readFile(path, 'utf8'));
  if (Array.isArray(file)) return file;
  throw new Error('expected a JSON list of dialogues');
}

function turnsOf(dialogue: unknown): (string | undefined)[] {
  const { conversations, conversation } = (dialogue ?? {}) as Record<string, unknown>;
  const turns = conversations ?? conversation;
  if (!Array.isArray(turns)) return [];
  return turns.slice(0, 2).map((turn) => {
    const { value, content } = (turn ?? {}) as Record<string, unknown>;
    const text = value ?? content;
    return typeof text === 'string' ? text : undefined;
  });
}
