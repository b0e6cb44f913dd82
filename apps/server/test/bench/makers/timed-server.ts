import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** When the pieces of every answer come. */
export interface TimedAnswer {
  readonly firstMs: number;
  readonly gapMs: number;
  readonly pieces: readonly object[];
  readonly usage?: object;
  readonly status?: number;
  readonly isCut?: boolean;
}

/** An API whose answers come at known times. */
export interface TimedServer {
  readonly url: string;
  readonly bodies: Record<string, unknown>[];
  readonly paths: string[];
  /** Requests under way at once, at most. */
  mostAtOnce: number;
  /** Sockets that were opened. */
  sockets: number;
  close(): Promise<void>;
}

/** Starts it; `answer` is called with the number of each request, from 0. */
export async function startTimed(answer: (request: number) => TimedAnswer): Promise<TimedServer> {
  let open = 0;
  const http = createServer(async (incoming, response) => {
    server.paths.push(incoming.url ?? '');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (incoming.url === '/v1/models') return void response.end('{"data":[{"id":"timed"}]}');
    if (!incoming.url?.includes('completions')) return void response.end('{}');
    const request = server.bodies.push(JSON.parse(Buffer.concat(chunks).toString())) - 1;
    open += 1;
    server.mostAtOnce = Math.max(server.mostAtOnce, open);
    await write(response, answer(request));
    open -= 1;
  }).listen(0, '127.0.0.1');
  http.on('connection', () => {
    server.sockets += 1;
  });
  await once(http, 'listening');
  const server: TimedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    bodies: [],
    paths: [],
    mostAtOnce: 0,
    sockets: 0,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}

async function write(response: ServerResponse, answer: TimedAnswer): Promise<void> {
  const frame = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  if (answer.status !== undefined) {
    response.writeHead(answer.status).end('{"error":{"message":"not today"}}');
    return;
  }
  response.write(': silence\n\n');
  frame({ choices: [{ delta: { role: 'assistant', content: '' }, text: '' }] });
  await sleep(answer.firstMs);
  for (const [index, piece] of answer.pieces.entries()) {
    if (index > 0) await sleep(answer.gapMs);
    frame({ choices: [piece] });
  }
  if (answer.isCut) return void response.end();
  if (answer.usage) frame({ choices: [], usage: answer.usage });
  response.end('data: [DONE]\n\n');
}
