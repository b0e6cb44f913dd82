import { afterEach, describe, expect, it } from 'vitest';
import { withoutRoot } from '../../src/http/request/without-root.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { rawAnswer } from './raw-answer.js';

describe('behind a proxy', () => {
  let server: ScriptedServer;
  afterEach(() => server?.close());

  const get = (path: string, key?: string) =>
    fetch(server.url + path, key === undefined ? {} : { headers: { 'x-api-key': key } });

  it.each([
    ['/api/m3/v1/models?a=b', '/v1/models?a=b'],
    ['/v1/models', '/v1/models'],
    ['/api/m3', '/'],
    ['/api/m3?a', '/?a'],
    ['/api/m3x/v1', '/api/m3x/v1'],
    ['/api/m3//v1', '//v1'],
    ['/api/m3/api/m3/v1', '/api/m3/v1'],
  ])('%s is %s', (given, expected) => {
    expect(withoutRoot(given, '/api/m3')).toBe(expected);
    expect(withoutRoot(given, '')).toBe(given);
  });

  it('routes are found with the path and without it, and keys count for both', async () => {
    server = await startScripted({ rootPath: '/api/m3', apiKeys: ['one'] });
    for (const root of ['', '/api/m3']) {
      expect((await get(`${root}/v1/models`, 'one')).status).toBe(200);
      expect((await get(`${root}/v1/models`)).status).toBe(401);
      expect((await get(`${root}/health`)).status).toBe(200);
    }
    expect((await get('/api/m3/api/m3/v1/models', 'one')).status).toBe(404);
    expect(
      await rawAnswer(server.url, 'GET /api/m3//v1/models HTTP/1.1\r\nhost: a\r\n\r\n'),
    ).toMatch(/^HTTP\/1\.1 400/);
    const document = (await (await get('/openapi.json', 'one')).json()) as object;
    expect(document).toMatchObject({ servers: [{ url: '/api/m3' }] });
    const page = await get('/api/m3/ui/');
    if (page.status === 200) expect(await page.text()).not.toMatch(/(src|href)="\//);
  });

  it('there are no documents if the operator wants none', async () => {
    server = await startScripted({ servesDocs: false });
    for (const path of ['/docs', '/docs/', '/openapi.json', '/docs/json']) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    expect((await get('/v1/models')).status).toBe(200);
  });

  it.each([
    ['key', [401, 200, 200]],
    ['open', [200, 200, 200]],
    ['admin', [401, 403, 200]],
  ] as const)('/metrics is for: %s', async (metricsAccess, statuses) => {
    server = await startScripted({ apiKeys: ['one'], adminApiKeys: ['boss'], metricsAccess });
    const answers = [
      await get('/metrics'),
      await get('/metrics', 'one'),
      await get('/metrics', 'boss'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    expect((await get('/server_info')).status).toBe(401);
  });
});
