import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countTokens } from '../../src/client/served-models.js';

describe('the count of tokens by a server', () => {
  let server: Server;
  let answer = { status: 200, body: '' };
  const asked: { path: string | undefined; body: string }[] = [];

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      asked.push({ path: request.url, body });
      response.writeHead(answer.status).end(answer.body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const count = () => {
    const { port } = server.address() as AddressInfo;
    const address = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: undefined };
    return countTokens(address, 'm', 'some text');
  };

  it('is asked for beside the API of OpenAI', async () => {
    answer = { status: 200, body: '{"count": 7, "tokens": [1]}' };
    expect(await count()).toBe(7);
    const body = { model: 'm', prompt: 'some text', add_special_tokens: false };
    expect(asked.at(-1)).toEqual({ path: '/tokenize', body: JSON.stringify(body) });
  });

  it.each([404, 405, 501])('is unknown to a server that answers %d', async (status) => {
    answer = { status, body: '{"error": {"message": "no such thing"}}' };
    expect(await count()).toBeUndefined();
  });

  it.each([400, 401, 429, 500, 503])('is what the server says that answers %d', async (status) => {
    answer = { status, body: '{"error": {"message": "in its words"}}' };
    const message = expect.stringMatching(new RegExp(`answered ${status}: in its words`));
    await expect(count()).rejects.toMatchObject({ code: 'CLIENT_STATUS', status, message });
  });

  it.each(['no JSON', '{"tokens": [1]}', '{"count": -1}'])('is not in %s', async (body) => {
    answer = { status: 200, body };
    const message = expect.stringMatching(/\/tokenize does not answer with a `count`/);
    await expect(count()).rejects.toMatchObject({ code: 'CLIENT_ANSWER', message });
  });
});
