import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

describe('an API that this release has not', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  it.each([false, true])(
    'C42: the Responses API is refused before any event, and not retried (stream: %s)',
    async (stream) => {
      let sent = 0;
      const client = new OpenAI({
        baseURL: `${server.url}/v1`,
        apiKey: 'none',
        fetch: (url, init) => {
          sent += 1;
          return fetch(url, init);
        },
      });
      const asked = client.responses.create({ model: 'm3', input: 'Hi', stream });
      await expect(asked).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(asked).rejects.toMatchObject({
        code: 'unsupported_endpoint',
        message: expect.stringContaining('/v1/responses'),
      });
      expect(sent).toBe(1);
      expect(server.engine.received).toEqual([]);
    },
  );
});
