import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

describe('the documents of the API', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server.close());

  it('name every route with its method, and nothing else', async () => {
    const answer = await fetch(`${server.url}/openapi.json`);
    const { paths, openapi } = (await answer.json()) as {
      openapi: string;
      paths: Record<string, Record<string, unknown>>;
    };
    expect(openapi).toBe('3.1.0');
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = [...server.app.routeTable]
      .filter(([path, method]) => method !== 'HEAD' && !/^\/(docs|ui)(\/|$)/.test(path))
      .map(([path, method]) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect(documented.sort()).toEqual(served.sort());
  });

  it('have the shapes that bodies are checked against', async () => {
    const answer = await fetch(`${server.url}/openapi.json`);
    const { paths } = (await answer.json()) as { paths: Record<string, never> };
    expect(paths['/v1/chat/completions']).toMatchObject({
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: expect.arrayContaining(['model', 'messages']),
                properties: { messages: { type: 'array', minItems: 1 } },
              },
            },
          },
        },
      },
    });
  });

  it('can be read in a browser without another server', async () => {
    const page = await fetch(`${server.url}/docs`);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/text\/html/),
    ]);
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|swagger\.io|upgrade-insecure/);
    // Styles that scripts put into the page are allowed one by one.
    for (const name of ['bundle', 'standalone-preset']) {
      const script = await fetch(`${server.url}/docs/static/swagger-ui-${name}.js`);
      const styles = (await script.text()).matchAll(/createElement\("style",null,("[^"]*")/g);
      for (const [, text = ''] of styles) {
        const hash = createHash('sha256').update(JSON.parse(text)).digest('base64');
        expect(policy).toContain(`'sha256-${hash}'`);
      }
    }
    const start = await fetch(`${server.url}/docs/static/swagger-initializer.js`);
    expect(await start.text()).toMatch(/"validatorUrl":\s*null/);
    const script = /src="([^"]*bundle[^"]*)"/.exec(html)?.[1] ?? '';
    expect((await fetch(new URL(script, `${server.url}/docs/`))).status).toBe(200);
  });
});
