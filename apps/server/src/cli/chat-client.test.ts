import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { firstModel, streamChat } from './chat-client.js';

describe('the chat client', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function listen(answer: RequestListener) {
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, apiKey: 'k' };
  }
  const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (value: object) => frame({ choices: [{ delta: value }] });

  it('writes thoughts and content as they come, whatever the pieces, and returns the content', async () => {
    const text = `: hi\n\n${delta({ reasoning_content: 'hm' })}${delta({ content: 'é🌦' })}${frame({
      choices: [],
      usage: { completion_tokens: 2 },
    })}data: [DONE]\n\n`;
    const at = await listen(async (_, response) => {
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const out = new PassThrough();
    expect(await streamChat(at, {}, out)).toEqual({ role: 'assistant', content: 'é🌦' });
    expect(String(out.read())).toBe('hmé🌦\n');
  });

  it('ends with the server’s sentence', async () => {
    const at = await listen((_, response) => {
      response.statusCode = 401;
      response.end(JSON.stringify({ error: { message: 'the key is wrong' } }));
    });
    await expect(firstModel(at)).rejects.toThrow(/answered 401: the key is wrong/);
  });

  it('ends with the error of a frame', async () => {
    const at = await listen((_, response) => response.end(frame({ error: { message: 'dead' } })));
    await expect(streamChat(at, {}, new PassThrough())).rejects.toThrow('dead');
  });

  it('says how to start a server that is not there', async () => {
    const nobody = { url: 'http://127.0.0.1:1', apiKey: undefined };
    await expect(firstModel(nobody)).rejects.toThrow(/no server answers.*altstream serve/);
  });
});
