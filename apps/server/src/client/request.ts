import { ClientError } from '../errors/index.js';
import type { ServerAddress } from './server-address.js';

/** When a request is given up. */
export interface RequestLimits {
  /** The caller's wish to stop. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole answer; none = for ever. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Sends one request and hands the answer to `read`; limits cover the reading too.
 *
 * @param path below the base address, such as `/models`
 * @param body sent as JSON by POST; none = GET
 * @throws ClientError
 */
export async function request<T>(
  server: ServerAddress,
  path: string,
  options: RequestLimits & {
    readonly body?: unknown;
    readonly read: (answer: Response) => Promise<T>;
  },
): Promise<T> {
  const { signal, timeoutMs, body, read } = options;
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signals = [signal, late].filter((one) => one !== undefined);
  const init: RequestInit = {
    headers: {
      'content-type': 'application/json',
      ...(server.apiKey === undefined ? {} : { authorization: `Bearer ${server.apiKey}` }),
    },
    signal: AbortSignal.any(signals),
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  };
  let isAnswering = false;
  try {
    const answer = await fetch(server.baseUrl + path, init);
    isAnswering = true;
    if (!answer.ok) throw await statusError(server, answer);
    return await read(answer);
  } catch (cause) {
    if (signal?.aborted) throw new ClientError('CLIENT_ABORTED', 'the request was stopped');
    if (late?.aborted) {
      const problem = `no complete answer within ${(timeoutMs ?? 0) / 1000} s`;
      throw new ClientError('CLIENT_TIMEOUT', `${server.baseUrl}: ${problem}`, { cause });
    }
    if (cause instanceof ClientError) throw cause;
    throw isAnswering ? broken(server, cause) : unreachable(server, cause);
  }
}

function unreachable({ baseUrl }: ServerAddress, cause: unknown): ClientError {
  const remedy = 'start one with `altstream serve`, or pass its address as --base-url';
  const problem = `no server answers at ${baseUrl} (${reasonOf(cause)})`;
  return new ClientError('CLIENT_UNREACHABLE', `${problem}; ${remedy}`, { cause });
}

function broken({ baseUrl }: ServerAddress, cause: unknown): ClientError {
  const problem = `the connection to ${baseUrl} broke within its answer (${reasonOf(cause)})`;
  return new ClientError('CLIENT_ANSWER', `${problem}; see the log of the server`, { cause });
}

/** `fetch` says "fetch failed" and keeps the reason in the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string };
    message: string;
  };
  return cause?.code ?? cause?.message ?? message;
}

async function statusError({ baseUrl }: ServerAddress, answer: Response): Promise<ClientError> {
  const message = messageOf(await answer.text().catch(() => ''));
  const remedy = remedies[answer.status];
  const sentence = `${baseUrl} answered ${answer.status}${message === '' ? '' : `: ${message}`}`;
  const retryAfterMs = retryAfterOf(answer.headers);
  return new ClientError('CLIENT_STATUS', remedy ? `${sentence}; ${remedy}` : sentence, {
    status: answer.status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const remedies: Readonly<Record<number, string>> = {
  401: 'pass the key as --api-key or in ALTSTREAM_API_KEY',
  404: 'check the path of --base-url and the name of --model',
};

const mostErrorText = 500;

/** The sentence in the error bodies of OpenAI, vLLM, sglang and others; else the text itself. */
function messageOf(text: string): string {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const nested = body['error'] as { message?: unknown } | string | undefined;
    const message = typeof nested === 'string' ? nested : (nested?.message ?? body['message']);
    if (typeof message === 'string') return message;
  } catch {
    // A proxy's page, or nothing at all: shown as it is.
  }
  return text.trim().slice(0, mostErrorText);
}

function retryAfterOf(headers: Headers): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact)) return exact;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}
