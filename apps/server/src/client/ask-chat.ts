import type { z } from 'zod';
import { ClientError } from '../errors/index.js';
import { failedWithin, parseAnswer as parse, readFrames } from './answer-frames.js';
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
const at = ({ baseUrl }: ServerAddress) => ({ url: baseUrl + path, kind: 'chat completion' });

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
      const { choices, usage } = parse(wholeBody, await answer.text(), at(server));
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

/**
 * Asks and passes the answer on while it comes. @throws ClientError, also for an answer that is cut
 * off
 */
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
    if (frame.error) throw failedWithin(server, frame.error.message ?? 'it did not say why');
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
      const isDone = await readFrames(answer, (data) => take(parse(streamFrame, data, at(server))));
      if (isDone || finishReason !== null) return;
      throw new ClientError('CLIENT_ANSWER', `${server.baseUrl} cut its answer off`);
    },
  });
  const timing = { ...times, totalMs: performance.now() - started };
  return builder.answer({ finishReason, timing, ...tokens });
}

function tokensOf(usage: z.infer<typeof wholeBody>['usage']): { completionTokens?: number } {
  const tokens = usage?.completion_tokens ?? undefined;
  return tokens === undefined ? {} : { completionTokens: tokens };
}
