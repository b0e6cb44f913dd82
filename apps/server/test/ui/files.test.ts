import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uiFolder } from '../../src/ui-folder.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

/** Gzipped bytes of everything at /ui; docs/ui.md says how many there are. */
const mostBytes = 28_000;

const sizeOf = (file: string): number => gzipSync(readFileSync(join(uiFolder(), file))).byteLength;

describe('the files at /ui', () => {
  let server: ScriptedServer;
  let closed: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted({ apiKeys: ['secret'] });
    closed = await startScripted({ servesUi: false });
  });
  afterAll(async () => {
    await server?.close();
    await closed?.close();
  });

  it('are small', () => {
    const bytes = readdirSync(uiFolder()).reduce((sum, file) => sum + sizeOf(file), 0);
    expect(bytes).toBeLessThan(mostBytes);
  });

  it('name no other host, and have no script or style within a page', () => {
    for (const file of readdirSync(uiFolder())) {
      const text = readFileSync(join(uiFolder(), file), 'utf8').replaceAll(
        'http://www.w3.org/',
        '',
      );
      expect(text, file).not.toMatch(/https?:\/\/|@import|innerHTML|insertAdjacentHTML/);
      if (file.endsWith('.html'))
        expect(text, file).not.toMatch(/<style|\sstyle=|\son\w+=|<script>/);
    }
  });

  it('are open without a key, under a policy that allows nothing but themselves', async () => {
    for (const file of ['', ...readdirSync(uiFolder())]) {
      const answer = await fetch(`${server.url}/ui/${file}`);
      expect(answer.status, file).toBe(200);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('are not sent again to who has them', async () => {
    const first = await fetch(`${server.url}/ui/style.css`);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const headers = { 'if-none-match': `"other", ${tag}` };
    const again = await fetch(`${server.url}/ui/style.css`, { headers });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    const page = await fetch(`${server.url}/ui/`);
    expect(page.headers.get('etag')).not.toBe(tag);
  });

  it('lead to nothing else: other paths need the key, with or without tricks', async () => {
    for (const [path, status] of [
      ['x.js', 401],
      ['%2e%2e/main.js', 401],
      ['index.html/../../v1/models', 401],
      ['..%2fmain.js', 400],
    ] as const) {
      expect([path, (await fetch(`${server.url}/ui/${path}`)).status]).toEqual([path, status]);
    }
  });

  it('are found from /ui, and are absent with --disable-ui', async () => {
    const moved = await fetch(`${server.url}/ui`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'ui/']);
    expect((await fetch(`${closed.url}/ui/`)).status).toBe(404);
  });
});
