import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import { ClientError } from '../errors/index.js';
import {
  AnswerBuilder,
  type AnswerDelta,
  type ChatAnswer,
  streamFrame,
  wholeBody,
} from './chat-answer.js';
import { type RequestLimits, request } from './request.js';
import type { ServerAddress } from './server-address.js';

const path = '/chat/completions';

/** Asks and waits for the whole answer. @throws ClientError */
export async function askWhole(
  server: ServerAddress,
  body: Readonly<Record<string, unknown>>,
  limits: RequestLimits = {},
): Promise<ChatAnswer> {
  const started = performance.now();
  return request(server, path, {
    ...limits,
    body: { ...body, stream: false },
    read: async (answer) => {
      const { choices, usage } = parse(wholeBody, await answer.text(), server);
      const [choice] = choices;
      const builder = new AnswerBuilder();
      if (choice) builder.add(choice.message);
      return builder.answer({
        finishReason: choice?.finish_reason ?? null,
        timing: { totalMs: performance.now() - started },
        ...tokensOf(usage),
      });
    },
  });
}

/** What asks for a streamed answer may want besides its end. */
export interface StreamOptions extends RequestLimits {
  readonly onDelta?: (delta: AnswerDelta) => void;
}

/** Asks and passes the answer on while it comes. @throws ClientError, also for an answer that is cut off */
export async function askStreamed(
  server: ServerAddress,
  body: Readonly<Record<string, unknown>>,
  { onDelta, ...limits }: StreamOptions = {},
): Promise<ChatAnswer> {
  const started = performance.now();
  const builder = new AnswerBuilder();
  const times: { firstMs?: number; lastMs?: number } = {};
  let finishReason: string | null = null;
  let tokens: { completionTokens?: number } = {};
  const take = (frame: z.infer<typeof streamFrame>): void => {
    if (frame.error) throw failed(server, frame.error.message ?? 'it did not say why');
    tokens = { ...tokens, ...tokensOf(frame.usage) };
    const [choice] = frame.choices ?? [];
    finishReason = choice?.finish_reason ?? finishReason;
    for (const delta of choice?.delta ? builder.add(choice.delta) : []) {
      times.lastMs = performance.now() - started;
      times.firstMs ??= times.lastMs;
      onDelta?.(delta);
    }
  };
  await request(server, path, {
    ...limits,
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    read: async (answer) => {
      const isDone = await readFrames(answer, (data) => take(parse(streamFrame, data, server)));
      if (isDone || finishReason !== null) return;
      throw new ClientError('CLIENT_ANSWER', `${server.baseUrl} cut its answer off`);
    },
  });
  const timing = { ...times, totalMs: performance.now() - started };
  return builder.answer({ finishReason, timing, ...tokens });
}

/** @returns whether the stream had its last mark */
async function readFrames(answer: Response, onData: (data: string) => void): Promise<boolean> {
  let isDone = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') isDone = true;
      else onData(data);
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
  return isDone;
}

function parse<T>(shape: z.ZodType<T>, text: string, { baseUrl }: ServerAddress): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    const seen = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    const problem = `${baseUrl}${path} answered what is no chat completion: ${seen}`;
    const remedy = 'is --base-url the address of an OpenAI-compatible API?';
    throw new ClientError('CLIENT_ANSWER', `${problem}; ${remedy}`, { cause });
  }
}

function failed({ baseUrl }: ServerAddress, message: string): ClientError {
  return new ClientError('CLIENT_SERVER_FAILED', `${baseUrl} failed within its answer: ${message}`);
}

function tokensOf(usage: z.infer<typeof wholeBody>['usage']): { completionTokens?: number } {
  const tokens = usage?.completion_tokens ?? undefined;
  return tokens === undefined ? {} : { completionTokens: tokens };
}
