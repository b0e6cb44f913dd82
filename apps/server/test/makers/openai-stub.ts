import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerAddress } from '../../src/client/server-address.js';

/** A body of `POST /v1/chat/completions` as the stub got it. */
export interface StubRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: string }[];
  readonly [field: string]: unknown;
}

/** What the stub says. */
export interface StubReply {
  readonly content?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finish?: string;
  /** Null = the server does not count. */
  readonly tokens?: number | null;
  /** An HTTP error instead. */
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text instead of a completion. */
  readonly raw?: string;
  /** Milliseconds between the pieces of a stream. */
  readonly gapMs?: number;
  /** Comes before the content's piece of that number, from 0 on, of a stream. */
  readonly before?: (piece: number) => Promise<void>;
  /** Where a stream breaks off: an error frame, no last frames, or silence for ever. */
  readonly after?: 'error-frame' | 'cut' | 'silence';
}

/** A scripted OpenAI server on a free loopback port. */
export interface OpenAiStub {
  readonly address: ServerAddress;
  readonly requests: StubRequest[];
  /** `authorization` of the last request. */
  key: string | undefined;
  close(): Promise<void>;
}

/** Starts it; `answer` is called for each chat request. */
export async function startStub(
  answer: (request: StubRequest) => StubReply,
  models: readonly string[] = ['stub'],
): Promise<OpenAiStub> {
  const requests: StubRequest[] = [];
  const server = createServer(async (incoming, response) => {
    stub.key = incoming.headers.authorization;
    if (incoming.url === '/v1/models') {
      response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id })) }));
      return;
    }
    const request = JSON.parse(await textOf(incoming)) as StubRequest;
    requests.push(request);
    await write(response, request, answer(request));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stub: OpenAiStub = {
    address: { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' },
    requests,
    key: undefined,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return stub;
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function write(
  response: ServerResponse,
  request: StubRequest,
  reply: StubReply,
): Promise<void> {
  if (reply.status !== undefined) {
    response.writeHead(reply.status, reply.headers ?? {});
    response.end(JSON.stringify({ error: { message: reply.message ?? 'no' } }));
  } else if (reply.raw !== undefined) response.end(reply.raw);
  else if (request.stream) await writeStream(response, reply);
  else if (reply.after !== 'silence') response.end(JSON.stringify(wholeOf(reply)));
}

function wholeOf({ content, reasoning, calls = [], finish, tokens = 7 }: StubReply): object {
  const message = {
    role: 'assistant',
    content: content ?? null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning, reasoning }),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map((call, id) => ({ id: `c${id}`, type: 'function', function: call })),
        }
      : {}),
  };
  const finish_reason = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = tokens === null ? {} : { usage: { completion_tokens: tokens } };
  return { choices: [{ index: 0, message, finish_reason }], ...usage };
}

/** A delta for every character, so that nothing depends on how an answer is cut. */
async function writeStream(response: ServerResponse, reply: StubReply): Promise<void> {
  const { content = '', reasoning = '', calls = [], finish, tokens = 7, after } = reply;
  const { gapMs, before } = reply;
  const frame = (value: unknown): boolean => response.write(`data: ${JSON.stringify(value)}\n\n`);
  const delta = (value: object) => frame({ choices: [{ index: 0, delta: value }] });
  response.write(': a comment\n\n');
  delta({ role: 'assistant', content: '' });
  for (const text of reasoning) delta({ reasoning_content: text, reasoning: text });
  for (const [piece, text] of [...content].entries()) {
    if (gapMs !== undefined) await new Promise((resolve) => setTimeout(resolve, gapMs));
    await before?.(piece);
    delta({ content: text });
  }
  calls.forEach(({ name, arguments: whole }, index) => {
    const called = { name, arguments: '' };
    delta({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: called }] });
    for (const text of whole) delta({ tool_calls: [{ index, function: { arguments: text } }] });
  });
  if (after === 'silence') return;
  if (after === 'cut') return void response.write(': cut\n\n', () => response.destroy());
  if (after === 'error-frame') return void response.end(`data: {"error":{"message":"dead"}}\n\n`);
  frame({
    choices: [{ delta: {}, finish_reason: finish ?? (calls.length ? 'tool_calls' : 'stop') }],
  });
  if (tokens !== null) frame({ choices: [], usage: { completion_tokens: tokens } });
  response.end('data: [DONE]\n\n');
}
