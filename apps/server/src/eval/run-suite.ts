import { askStreamed, askWhole } from '../client/ask-chat.js';
import type { ChatAnswer } from '../client/chat-answer.js';
import type { ServerAddress } from '../client/server-address.js';
import { ClientError } from '../errors/index.js';
import { wrongness } from './check-answer.js';
import { patiently } from './patiently.js';
import type { SuitePrompt } from './suite-prompt.js';

/** How a suite is run. */
export interface SuiteRunOptions {
  readonly model: string;
  /** Prompts under way at once. */
  readonly concurrency: number;
  /** Milliseconds for one answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly onResult?: ((result: PromptResult) => void) | undefined;
}

/** How one prompt went. */
export interface PromptResult {
  readonly prompt: SuitePrompt;
  readonly isRight: boolean;
  /** Why not; for one without an answer, why there is none. */
  readonly reason?: string;
  /** What kept it from having an answer. */
  readonly failure?: ClientError;
  /** Absent when there was none. */
  readonly whole?: ChatAnswer;
  /** For every fourth prompt of a skill, which is asked both ways. */
  readonly streamed?: ChatAnswer;
  /** False when the same prompt had two different answers. */
  readonly streamAgrees?: boolean;
}

/** How a suite went. */
export interface SuiteRun {
  /** In the order of the suite; prompts that were not asked are left out. */
  readonly results: readonly PromptResult[];
  /** Milliseconds from the first request to the last answer. */
  readonly durationMs: number;
  /** Why the run ended before the suite did. */
  readonly ended?: 'stopped' | 'gave-up';
}

/** A server that does not answer so many prompts in a row is gone; refusing them is an answer. */
const mostFailuresInARow = 5;
const streamedEvery = 4;

/**
 * Asks all prompts greedily, each once as a whole and every fourth of a skill also streamed, and
 * checks the answers. A prompt without an answer is a wrong one.
 */
export async function runSuite(
  server: ServerAddress,
  prompts: readonly SuitePrompt[],
  options: SuiteRunOptions,
): Promise<SuiteRun> {
  const started = performance.now();
  const results: (PromptResult | undefined)[] = [];
  const isStreamed = everyFourthOfASkill(prompts);
  let next = 0;
  let failuresInARow = 0;
  const isOver = (): boolean =>
    options.signal?.aborted === true || failuresInARow >= mostFailuresInARow;
  const work = async (): Promise<void> => {
    while (next < prompts.length && !isOver()) {
      const index = next++;
      const prompt = prompts[index];
      if (!prompt) return;
      const result = await askPrompt(server, prompt, isStreamed[index] === true, options);
      if (options.signal?.aborted) return;
      failuresInARow = isLost(result) ? failuresInARow + 1 : 0;
      results[index] = result;
      options.onResult?.(result);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  const given = results.filter((result) => result !== undefined);
  const durationMs = performance.now() - started;
  if (given.length === prompts.length) return { results: given, durationMs };
  const ended = options.signal?.aborted ? 'stopped' : 'gave-up';
  return { results: given, durationMs, ended };
}

function everyFourthOfASkill(prompts: readonly SuitePrompt[]): boolean[] {
  const seen = new Map<string, number>();
  return prompts.map(({ skill }) => {
    const count = seen.get(skill) ?? 0;
    seen.set(skill, count + 1);
    return count % streamedEvery === 0;
  });
}

async function askPrompt(
  server: ServerAddress,
  prompt: SuitePrompt,
  isStreamed: boolean,
  { model, timeoutMs, signal }: SuiteRunOptions,
): Promise<PromptResult> {
  const body = requestBody(prompt, model);
  const limits = { timeoutMs, signal };
  let whole: ChatAnswer | undefined;
  try {
    whole = await patiently(() => askWhole(server, body, limits), limits);
    if (!isStreamed) return checked(prompt, whole);
    const streamed = await patiently(() => askStreamed(server, body, limits), limits);
    const streamAgrees = isSame(whole, streamed);
    const both = { ...checked(prompt, whole), streamed, streamAgrees };
    const reason = both.reason ?? reasonOfStream(prompt, streamed);
    return { ...both, isRight: reason === undefined, ...(reason === undefined ? {} : { reason }) };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const facts = { prompt, isRight: false, reason: error.message, failure: error };
    return { ...facts, ...(whole ? { whole } : {}) };
  }
}

function isLost({ failure }: PromptResult): boolean {
  const status = failure?.status ?? 0;
  return failure !== undefined && !(status >= 400 && status < 500);
}

function checked(prompt: SuitePrompt, whole: ChatAnswer): PromptResult {
  const reason = wrongness(prompt.check, whole);
  return { prompt, whole, isRight: reason === undefined, ...(reason ? { reason } : {}) };
}

function reasonOfStream({ check }: SuitePrompt, streamed: ChatAnswer): string | undefined {
  const reason = wrongness(check, streamed);
  return reason === undefined ? undefined : `right as a whole, wrong when streamed: ${reason}`;
}

/** The request of a prompt; servers of M3 read the thinking mode from the template's arguments. */
function requestBody(prompt: SuitePrompt, model: string): Record<string, unknown> {
  const { messages, tools, thinking, max_tokens } = prompt;
  return {
    model,
    messages,
    ...(tools ? { tools } : {}),
    max_tokens,
    temperature: 0,
    chat_template_kwargs: { thinking_mode: thinking },
  };
}

/** The same text, thoughts and calls; ids of calls are random. */
function isSame(one: ChatAnswer, other: ChatAnswer): boolean {
  const facts = ({ content, reasoning, toolCalls, finishReason }: ChatAnswer): string => {
    const calls = toolCalls.map(({ name, arguments: text }) => [name, text]);
    return JSON.stringify([content, reasoning, calls, finishReason]);
  };
  return facts(one) === facts(other);
}
