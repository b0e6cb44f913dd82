import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

describe.skipIf(noBrowser !== '')(`what is behind an answer, in Chromium${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;
  let page: Page;

  beforeAll(async () => {
    server = await startScripted();
    browser = await startBrowser({ width: 360, height: 740, dark: true });
    page = await browser.open(`${server.url}/ui/`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  }, 60_000);
  beforeEach(async () => {
    await page.evaluate('localStorage.clear()');
    await page.reload();
    await page.getByLabel('Model').filter({ hasText: 'm3' }).waitFor();
  });
  afterAll(async () => {
    expect(browser?.faults).toEqual([]);
    await browser?.close();
    await server?.close();
  });

  const set = async (group: string, label: string, text: string): Promise<void> => {
    const field = page.getByLabel(label, { exact: true });
    if (!(await field.isVisible())) {
      await page.locator('summary').getByText(group, { exact: true }).click();
    }
    await field.fill(text);
  };
  const ask = async (question: string, text: string): Promise<void> => {
    server.engine.scripts = [{ text }];
    await page.getByLabel('Question', { exact: true }).fill(question);
    await page.keyboard.press('Enter');
  };
  const isOver = () => page.getByText('Answer complete.').waitFor();
  const tab = (name: string) => page.getByRole('tab', { name });

  it('shows how likely each token was, and the others, by the keyboard', async () => {
    await set('Parameters', 'Alternatives of each token', '2');
    await ask('Hi', 'AB\n');
    await isOver();
    expect(server.engine.received.at(-1)?.parameters.logprobs).toBe(2);
    await tab('Answer').focus();
    await page.keyboard.press('ArrowRight');
    const [first, ...rest] = await page.getByRole('option').filter({ visible: true }).all();
    expect(await first?.textContent()).toBe('A');
    expect(await first?.getAttribute('aria-label')).toBe('A 69.8 %; else B 69.1 %');
    expect(await first?.getAttribute('class')).toBe('token heat-2');
    expect(await rest[1]?.textContent()).toBe('↵\n');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator(':focus').textContent()).toBe('B');
    const rows = page.getByRole('table', { name: 'Chances of this token' }).getByRole('row');
    expect(await rows.allTextContents()).toEqual(['B69.1 %-0.370', 'C68.4 %-0.380']);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  it('shows what was sent and what came back, also of what failed', async () => {
    await ask('Hi', 'Good day.');
    await isOver();
    expect(await tab('Tokens').count()).toBe(0);
    await tab('Request').click();
    const panel = page.getByRole('tabpanel').filter({ visible: true });
    expect(JSON.parse((await panel.locator('pre').textContent()) ?? '')).toMatchObject({
      model: 'm3',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    await page.keyboard.press('End');
    expect(await panel.textContent()).toMatch(/^Status 200, request [\w-]+, \d+ events\{/);
    expect(await panel.textContent()).toMatch(/\[DONE\]$/);
    await set('Tools and further fields', 'Further fields of the request (JSON object)', '{"n":0}');
    await ask('Again', 'Not said.');
    await page.getByText('Failed.').waitFor();
    await tab('Response').last().click();
    expect(await panel.last().textContent()).toMatch(/^Status 400.*"param":"n"/);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('exchange');
  });

  it('asks for an answer of a schema, with a developer message', async () => {
    await set('JSON schema', 'JSON schema of the answer', '[]');
    await ask('Hi', '{}');
    await page.getByText('JSON schema: expected a JSON object').waitFor();
    await set('JSON schema', 'JSON schema of the answer', '{"type":"object"}');
    await set('System prompt', 'System prompt', 'Be brief.');
    await page.getByLabel('Sent as').selectOption('developer');
    await ask('Hi', '{}');
    await isOver();
    expect(server.grammars.compiled).toHaveLength(1);
    await tab('Request').click();
    const text = await page.locator('pre.raw').filter({ visible: true }).textContent();
    expect(JSON.parse(text ?? '')).toMatchObject({
      messages: [{ role: 'developer', content: 'Be brief.' }, { role: 'user' }],
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });
  });

  it('counts the tokens of the next prompt', async () => {
    await page.getByLabel('Question', { exact: true }).fill('How many am I?');
    const shown = page.getByText(/^Next prompt: [\d\s.]+ tokens$/);
    await shown.waitFor();
    const messages = [{ role: 'user', content: 'How many am I?' }];
    const answer = await fetch(`${server.url}/tokenize`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    });
    const { count } = (await answer.json()) as { count: number };
    expect(Number((await shown.textContent())?.replace(/\D/g, ''))).toBe(count);
  });

  it.each([
    ['curl', /^curl -N http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions /],
    ['openai-node', /^import OpenAI from 'openai';[\s\S]*"content": "Hi"/],
    ['Python', /from openai import OpenAI\n[\s\S]*"content": "Hi"[\s\S]*extra_body=\{/],
  ])('copies the request as %s', async (name, form) => {
    await ask('Hi', 'Good day.');
    await isOver();
    await page.getByRole('button', { name: `Copy as ${name}` }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(form);
  });
});
