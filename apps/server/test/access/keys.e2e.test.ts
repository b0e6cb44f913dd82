import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { rawAnswer } from './raw-answer.js';

const open = ['/', '/health', '/livez', '/readyz', '/startupz', '/ping', '/health/decode'];
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('who may use what (S1)', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  async function answerTo(path: string, init: RequestInit = {}) {
    const answer = await fetch(server.url + path.replaceAll(/:\w+/g, 'm3'), init);
    const text = await answer.text();
    const { error } = text.startsWith('{') ? JSON.parse(text) : { error: undefined };
    return { status: answer.status, code: error?.code as string | undefined };
  }

  it('every route but health, the greeting and the pages wants a key, and those of the operator the admin key', async () => {
    server = await startScripted({ apiKeys: ['one', 'two'], adminApiKeys: ['root'] });
    const routes = [...server.app.routeTable];
    expect(routes.length).toBeGreaterThan(20);
    for (const [path, method] of routes) {
      const isPage = /^\/(ui|docs)(\/|$)/.test(path) && !/^\/docs\/(json|yaml)$/.test(path);
      const isOpen = open.includes(path) || isPage;
      const call = (headers: Record<string, string>) => answerTo(path, { method, headers });
      for (const headers of [{}, bearer('on'), bearer('onetwo'), { authorization: 'one' }]) {
        expect([path, method, (await call(headers)).status === 401]).toEqual([
          path,
          method,
          !isOpen,
        ]);
      }
      expect((await call(bearer('two'))).status).not.toBe(401);
      expect((await call({ 'x-api-key': 'one' })).status).not.toBe(401);
      const asAdmin = await call(bearer('root'));
      expect([path, method, asAdmin.status]).not.toEqual([path, method, 401]);
      expect([path, method, asAdmin.status]).not.toEqual([path, method, 403]);
    }
  });

  it('what no route takes wants a key, too', async () => {
    server = await startScripted({ apiKeys: ['one'] });
    for (const path of ['/nothing', '/HEALTH', '/health/', '/v1/embeddings', '/health?x#y/..']) {
      const isHealth = path.startsWith('/health?');
      expect([path, (await answerTo(path)).status]).toEqual([path, isHealth ? 200 : 401]);
    }
  });

  it.each([
    'GET /health/../v1/models HTTP/1.1',
    'GET /health/..%2fv1/models HTTP/1.1',
    'GET //v1/models HTTP/1.1',
    'GET /health%2f..%2fv1%2fmodels HTTP/1.1',
    'GET http://localhost/v1/models HTTP/1.1',
    'GET /v1/models;/health HTTP/1.1',
    'POST /health HTTP/1.1',
  ])('no way around the key: %s', async (line) => {
    server = await startScripted({ apiKeys: ['one'] });
    const answer = await rawAnswer(
      server.url,
      `${line}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[01] /);
    expect(answer).not.toContain('max_model_len');
  });

  it('a request that proxies may read in two ways is none', async () => {
    server = await startScripted({ apiKeys: ['one'] });
    const head = 'POST /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n';
    const both = `${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await rawAnswer(server.url, both)).toMatch(/^HTTP\/1\.1 400 /);
    const hosts = 'GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n';
    expect(await rawAnswer(server.url, hosts)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('keys are not read from the query', async () => {
    server = await startScripted({ apiKeys: ['one'] });
    expect((await answerTo('/v1/models?api_key=one&key=one')).status).toBe(401);
  });
});
