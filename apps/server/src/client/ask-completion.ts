import { z } from 'zod';
import { ClientError } from '../errors/index.js';
import { failedWithin, parseAnswer, readFrames } from './answer-frames.js';
import { type RequestLimits, request } from './request.js';
import type { ServerAddress } from './server-address.js';

const path = '/completions';

const frame = z.looseObject({
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  choices: z
    .array(z.looseObject({ text: z.string().nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: z.looseObject({ completion_tokens: z.number().nullish() }).nullish(),
});

/** How a text completion ended. */
export interface CompletionEnd {
  /** `stop`, `length`, or what another server says; null when it says nothing. */
  readonly finishReason: string | null;
  /** Generated tokens; absent when the server does not say. */
  readonly completionTokens?: number;
}

/**
 * Asks for a text completion and passes it on while it comes.
 *
 * @throws ClientError, also for one that is cut off
 */
export async function askCompletion(
  server: ServerAddress,
  body: Readonly<Record<string, unknown>>,
  { onText, ...limits }: RequestLimits & { readonly onText: (text: string) => void },
): Promise<CompletionEnd> {
  const expected = { url: server.baseUrl + path, kind: 'text completion' };
  let finishReason: string | null = null;
  let tokens: number | undefined;
  const take = ({ error, choices, usage }: z.infer<typeof frame>): void => {
    if (error) throw failedWithin(server, error.message ?? 'it did not say why');
    tokens = usage?.completion_tokens ?? tokens;
    const [choice] = choices ?? [];
    finishReason = choice?.finish_reason ?? finishReason;
    if (choice?.text) onText(choice.text);
  };
  await request(server, path, {
    ...limits,
    body: { ...body, stream: true, stream_options: { include_usage: true } },
    read: async (answer) => {
      const isDone = await readFrames(answer, (data) => take(parseAnswer(frame, data, expected)));
      if (isDone || finishReason !== null) return;
      throw new ClientError('CLIENT_ANSWER', `${server.baseUrl} cut its answer off`);
    },
  });
  return { finishReason, ...(tokens === undefined ? {} : { completionTokens: tokens }) };
}
