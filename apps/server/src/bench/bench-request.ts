import { createParser } from 'eventsource-parser';
import type { Pool } from 'undici';
import type { BenchPrompt, BenchTokenizer } from './bench-prompt.js';

/** Where and how all requests of a run are sent. */
export interface BenchTarget {
  readonly pool: Pool;
  /** Such as `/v1/chat/completions`. */
  readonly path: string;
  readonly isChat: boolean;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** Further fields of each request, such as `temperature`. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** Counts answers; without it the server has to. */
  readonly tokenizer: BenchTokenizer | undefined;
}

/** What was seen of one request; times in milliseconds on `performance.now()`. */
export interface RequestRecord {
  /** When it was due; it is sent later when `--max-concurrency` requests are under way. */
  readonly arrivedAt: number;
  readonly sentAt: number;
  /** When each non-empty delta came: content, thoughts and calls. */
  readonly deltasAt: readonly number[];
  readonly endedAt: number;
  readonly inputTokens?: number | undefined;
  /** Of those, the ones that the server had computed before, if it says so. */
  readonly cachedTokens?: number | undefined;
  /** Its number in a dialogue, from 1. */
  readonly turn?: number;
  readonly outputTokens?: number | undefined;
  /** The answer's text in tokens of `--tokenizer`. */
  readonly retokenized?: number | undefined;
  /** Why it does not count. */
  readonly error?: string;
}

/** Sends one request and follows its stream; a failure is a record, too. */
export async function sendBenchRequest(
  target: BenchTarget,
  prompt: BenchPrompt,
  arrivedAt: number,
  signal: AbortSignal,
): Promise<RequestRecord> {
  const answer = new StreamedAnswer(target.tokenizer !== undefined);
  const limit = AbortSignal.timeout(target.timeoutMs);
  const body = JSON.stringify(bodyOf(target, prompt));
  const sentAt = performance.now();
  let error: string | undefined;
  try {
    const response = await target.pool.request({
      path: target.path,
      method: 'POST',
      headers: headersOf(target),
      body,
      signal: AbortSignal.any([signal, limit]),
    });
    if (response.statusCode === 200) await answer.read(response.body);
    else error = `status ${response.statusCode}: ${messageOf(await response.body.text())}`;
    error ??= answer.problem;
  } catch (cause) {
    if (limit.aborted) error = `no whole answer within ${target.timeoutMs / 1000} s`;
    else error = signal.aborted ? 'stopped' : reasonOf(cause);
  }
  const endedAt = performance.now();
  const retokenized = target.tokenizer?.encode(answer.text).length;
  const outputTokens = answer.completionTokens ?? retokenized;
  if (outputTokens === undefined) {
    error ??= 'the server counts no tokens (usage); pass --tokenizer DIR to count them here';
  }
  return {
    arrivedAt,
    sentAt,
    deltasAt: answer.deltasAt,
    endedAt,
    inputTokens: answer.promptTokens ?? prompt.textTokens,
    cachedTokens: answer.cachedTokens,
    outputTokens,
    retokenized,
    ...(error === undefined ? {} : { error }),
  };
}

function bodyOf({ isChat, model, fields }: BenchTarget, prompt: BenchPrompt): object {
  const plain = isChat
    ? { messages: [{ role: 'user', content: prompt.text }] }
    : { prompt: prompt.text };
  return {
    model,
    ...(prompt.chat ?? plain),
    max_tokens: prompt.outputTokens,
    ...fields,
    stream: true,
    stream_options: { include_usage: true },
  };
}

function headersOf({ apiKey }: BenchTarget): Record<string, string> {
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { 'content-type': 'application/json', accept: 'text/event-stream', ...key };
}

const mostErrorText = 200;

/** The sentence of OpenAI's error body, else the text. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } | string };
    const message = typeof error === 'string' ? error : error?.message;
    if (message !== undefined) return message.slice(0, mostErrorText);
  } catch {
    // No JSON: shown as it is.
  }
  return text.trim().slice(0, mostErrorText);
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as { code?: string; message?: string };
  return code ?? message ?? String(cause);
}

interface Frame {
  readonly error?: { readonly message?: string } | string | null;
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null;
  } | null;
  readonly choices?: readonly {
    readonly text?: string | null;
    readonly delta?: Readonly<Record<string, unknown>> | null;
    readonly finish_reason?: string | null;
  }[];
}

/**
 * Takes a stream apart. Shapes are read loosely: checking them would take time that is being
 * measured.
 */
class StreamedAnswer {
  readonly deltasAt: number[] = [];
  text = '';
  promptTokens: number | undefined;
  cachedTokens: number | undefined;
  completionTokens: number | undefined;
  readonly #keepsText: boolean;
  #failure: string | undefined;
  #isWhole = false;

  constructor(keepsText: boolean) {
    this.#keepsText = keepsText;
  }

  /** Why the answer does not count; undefined for a whole one. */
  get problem(): string | undefined {
    return this.#failure ?? (this.#isWhole ? undefined : 'the answer was cut off');
  }

  async read(body: AsyncIterable<Uint8Array>): Promise<void> {
    const parser = createParser({ onEvent: ({ data }) => this.#take(data) });
    const decoder = new TextDecoder();
    for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
  }

  #take(data: string): void {
    const now = performance.now();
    if (data === '[DONE]') {
      this.#isWhole = true;
      return;
    }
    const { error, usage, choices } = JSON.parse(data) as Frame;
    if (error) {
      const message = typeof error === 'string' ? error : error.message;
      this.#failure = `failed within its answer: ${(message ?? '').slice(0, mostErrorText)}`;
    }
    this.promptTokens = usage?.prompt_tokens ?? this.promptTokens;
    this.cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? this.cachedTokens;
    this.completionTokens = usage?.completion_tokens ?? this.completionTokens;
    const [choice] = choices ?? [];
    if (choice?.finish_reason) this.#isWhole = true;
    const text = choice?.text ?? (choice?.delta ? textOfDelta(choice.delta) : '');
    if (text === '') return;
    this.deltasAt.push(now);
    if (this.#keepsText) this.text += text;
  }
}

/** What a delta adds: content, thoughts, names and arguments of calls. */
function textOfDelta(delta: Readonly<Record<string, unknown>>): string {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  // Servers that use both names of thoughts put the same text into both.
  const thought = text(delta['reasoning_content']) || text(delta['reasoning']);
  const calls = delta['tool_calls'];
  const called = Array.isArray(calls)
    ? calls.map(({ function: target }: { function?: { name?: unknown; arguments?: unknown } }) => {
        return text(target?.name) + text(target?.arguments);
      })
    : [];
  return thought + text(delta['content']) + called.join('');
}
