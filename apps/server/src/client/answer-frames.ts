import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import { ClientError } from '../errors/index.js';
import type { ServerAddress } from './server-address.js';

/** Whose answer it is, and what it should be. */
export interface Expected {
  readonly url: string;
  /** Such as `chat completion`. */
  readonly kind: string;
}

/** Hands on the data of each event of a stream. @returns whether it had its last mark */
export async function readFrames(
  answer: Response,
  onData: (data: string) => void,
): Promise<boolean> {
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

/** Reads JSON of a shape. @throws ClientError that shows what came in its place */
export function parseAnswer<T>(shape: z.ZodType<T>, text: string, { url, kind }: Expected): T {
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    const seen = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    const problem = `${url} answered what is no ${kind}: ${seen}`;
    const remedy = 'is --base-url the address of an OpenAI-compatible API?';
    throw new ClientError('CLIENT_ANSWER', `${problem}; ${remedy}`, { cause });
  }
}

/** The server began to answer and then said that it cannot. */
export function failedWithin({ baseUrl }: ServerAddress, message: string): ClientError {
  return new ClientError('CLIENT_SERVER_FAILED', `${baseUrl} failed within its answer: ${message}`);
}
