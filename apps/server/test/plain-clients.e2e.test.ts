import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';
import { waitFor } from './makers/wait-for.js';

const run = promisify(execFile);
const chatBody = (more: object): string =>
  JSON.stringify({
    model: 'T128',
    messages: [{ role: 'user', content: 'Hi' }],
    temperature: 0,
    max_tokens: 4,
    ...more,
  });

describe('clients without a library', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128');
    server = await startTestServer(folder.path);
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  const curl = async (body: string): Promise<string> => {
    const url = `${server.url}/v1/chat/completions`;
    const args = [
      '-sS',
      '-N',
      '--max-time',
      '30',
      '-H',
      'content-type: application/json',
      '-d',
      body,
    ];
    return (await run('curl', [...args, url])).stdout;
  };

  it('curl completes a chat', async () => {
    expect(JSON.parse(await curl(chatBody({})))).toMatchObject({ object: 'chat.completion' });
  });

  it('curl streams a chat to its [DONE]', async () => {
    const frames = (await curl(chatBody({ stream: true }))).split('\n\n').filter(Boolean);
    expect(frames.at(-1)).toBe('data: [DONE]');
    for (const frame of frames.slice(0, -1)) JSON.parse(frame.replace(/^data: /, ''));
  });

  it('an EventSource reads a chat to its [DONE]', async () => {
    const source = new EventSource(`${server.url}/v1/chat/completions`, {
      fetch: (url, init) =>
        fetch(url, {
          ...init,
          method: 'POST',
          headers: { ...init.headers, 'content-type': 'application/json' },
          body: chatBody({ stream: true }),
        }),
    });
    const frames: string[] = [];
    await new Promise<void>((resolve, reject) => {
      source.onmessage = ({ data }) => {
        frames.push(String(data));
        if (data === '[DONE]') resolve();
      };
      source.onerror = ({ message }) => reject(new Error(message));
    });
    source.close();
    expect(frames.length).toBeGreaterThan(2);
    for (const frame of frames.slice(0, -1)) {
      expect(JSON.parse(frame)).toMatchObject({ object: 'chat.completion.chunk' });
    }
  });

  const socketFor = (body: string) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
    return socket;
  };

  it.each([false, true])('a raw socket completes a chat (stream: %s)', async (stream) => {
    const socket = socketFor(chatBody({ stream }));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'close');
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain(stream ? 'data: [DONE]' : '"chat.completion"');
  });

  it('a client that sends in pieces and closes its half is still answered', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const body = chatBody({});
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    for (const piece of [head.slice(0, 20), head.slice(20), body.slice(0, 9)]) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    socket.end(body.slice(9));
    await once(socket, 'close');
    expect(Buffer.concat(chunks).toString()).toContain('chat.completion');
  });

  it.each([false, true])('a client that leaves frees its pages (stream: %s)', async (stream) => {
    const socket = socketFor(chatBody({ stream, max_tokens: 3000, ignore_eos: true }));
    await waitFor(async () => (await server.metric('vllm:num_requests_running')) === 1);
    expect(await server.metric('altstream_kv_pages{state="pinned"}')).toBeGreaterThan(0);
    socket.destroy();
    await waitFor(async () => (await server.metric('altstream_kv_pages{state="pinned"}')) === 0);
    expect(await server.metric('altstream_kv_pages{state="reserved"}')).toBe(0);
  });
});
