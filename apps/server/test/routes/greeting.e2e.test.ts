import { afterEach, describe, expect, it } from 'vitest';
import { rawAnswer } from '../access/raw-answer.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('GET /', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  const get = (headers: Record<string, string> = {}, init: RequestInit = {}, path = '/') =>
    fetch(server.url + path, { headers, ...init });

  it('says that the server runs, what it serves, and where to go on', async () => {
    server = await startScripted();
    const answer = await get();
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        message: 'Altstream is running',
        status: 'ok',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        models: ['m3'],
        links: {
          ui: '/ui/',
          docs: '/docs',
          openapi: '/openapi.json',
          models: '/v1/models',
          health: '/health',
          metrics: '/metrics',
        },
      },
    ]);
  });

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/json, text/html', 'application/json'],
    [browser, 'text/html'],
    ['TEXT/HTML', 'text/html'],
    ['text/html;q=0, application/json', 'application/json'],
    ['text/html; level=1; q=0.0, */*', 'application/json'],
    ['text/html;q=0', 'application/json'],
    ['text/html;q=0.5, application/json;q=0.9', 'application/json'],
    ['text/html;q=0.1, */*', 'application/json'],
    ['application/json;q=0.5, text/html; Q=0.9', 'text/html'],
    ['application/json;q=0, text/html;q=0.1', 'text/html'],
    ['*/*;q=0.5, text/html;q=0.5', 'text/html'],
    ['text/*', 'text/html'],
    ['image/png', 'application/json'],
    ['', 'application/json'],
  ])('takes an accept of %s for a wish for %s', async (accept, type) => {
    server = await startScripted();
    const answer = await get(accept === undefined ? {} : { accept });
    expect(answer.headers.get('content-type')).toContain(type);
    expect(answer.headers.get('vary')).toContain('accept');
  });

  it('is a page of links that work, below the path of a proxy, too', async () => {
    server = await startScripted({ rootPath: '/api/m3', servedModelNames: ['<b>m3&'] });
    for (const path of ['/', '/api/m3', '/api/m3/']) {
      const answer = await get({ accept: browser }, {}, path);
      const html = await answer.text();
      expect([answer.status, html]).toEqual([200, expect.stringContaining('Altstream is running')]);
      expect(html).toContain('Models: &#60;b&#62;m3&#38;');
      expect(html).not.toMatch(/<b>|<script|style=/);
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => String(link));
      expect(links.length).toBeGreaterThan(4);
      for (const link of links) {
        expect(link).toMatch(/^\/api\/m3\//);
        expect([link, (await fetch(server.url + link)).status]).toEqual([link, 200]);
      }
    }
  });

  it('tells who has no key neither models nor version, and keys to nobody', async () => {
    server = await startScripted({ apiKeys: ['one'], adminApiKeys: ['boss'] });
    for (const headers of [{}, { 'x-api-key': 'wrong' }]) {
      const facts = (await (await get(headers)).json()) as object;
      expect(facts).toMatchObject({ message: 'Altstream is running', status: 'ok' });
      expect(facts).not.toHaveProperty('models');
      expect(facts).not.toHaveProperty('version');
      const page = await (await get({ ...headers, accept: browser })).text();
      expect(page).toContain('who has a key');
      expect(page).not.toContain('m3');
    }
    for (const key of ['one', 'boss']) {
      const text = await (await get({ authorization: `Bearer ${key}` })).text();
      expect(JSON.parse(text)).toMatchObject({ models: ['m3'] });
      expect(text).not.toContain(key);
    }
  });

  it('tells pages of other sites neither models nor version (S21)', async () => {
    server = await startScripted({ allowedHosts: ['localhost'] });
    const answer = await rawAnswer(
      server.url,
      'GET / HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*Altstream is running/);
    expect(answer).not.toMatch(/version|m3/);
    const other = await (await get({ origin: 'http://elsewhere.example' })).text();
    expect(other).not.toMatch(/version|m3/);
    expect(await (await get({ origin: server.url })).text()).toMatch(/version/);
  });

  it('leaves out what is switched off, and says where a server stands', async () => {
    server = await startScripted({ servesUi: false, servesDocs: false });
    server.context.isDraining = true;
    const facts = (await (await get()).json()) as { status: string; links: object };
    expect([facts.status, Object.keys(facts.links)]).toEqual([
      'draining',
      ['models', 'health', 'metrics'],
    ]);
  });

  it('has a HEAD, and takes nothing else', async () => {
    server = await startScripted();
    const head = await get({}, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await get({ 'content-type': 'application/json' }, { method: 'POST', body: '{}' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
