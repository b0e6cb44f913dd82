import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

const messages = [{ role: 'user', content: 'Hi <b>]~b]ai</b>\n漢' }];

describe.skipIf(noBrowser !== '')(`the tokenizer's page in Chromium${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;
  let page: Page;

  beforeAll(async () => {
    server = await startScripted();
    browser = await startBrowser({ width: 360, height: 740 });
    page = await browser.open(`${server.url}/ui/tokenizer.html`);
  }, 60_000);
  afterAll(async () => {
    expect(browser?.faults).toEqual([]);
    await browser?.close();
    await server?.close();
  });

  const show = async (kind: string, text: string): Promise<void> => {
    await page.getByLabel('Input').selectOption(kind);
    await page.getByLabel('What becomes tokens', { exact: true }).last().fill(text);
    await page.keyboard.press('Control+Enter');
  };
  const ids = async (): Promise<number[]> =>
    JSON.parse(await page.getByLabel('Ids', { exact: true }).inputValue());
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(server.url + path, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    return (await answer.json()) as { tokens: number[]; prompt: string };
  };

  it('shows the tokens of a text, and each id by the keyboard', async () => {
    await show('text', 'AB\n');
    const tokens = page.getByRole('listbox').getByRole('option');
    await tokens.first().waitFor();
    expect(await tokens.allTextContents()).toEqual(['A', 'B', '↵\n']);
    expect(await ids()).toEqual((await post('/tokenize', { prompt: 'AB\n' })).tokens);
    await tokens.first().focus();
    await page.keyboard.press('ArrowRight');
    const [, second] = await ids();
    await page.getByText(`B is token ${second}, number 2 of 3.`).waitFor();
  });

  it('shows a chat as the model gets it, with its markup as text', async () => {
    await show('chat', JSON.stringify({ model: 'm3', messages, temperature: 1 }));
    const { prompt } = await post('/apply-template', { messages });
    const rendered = page.locator('#rendered');
    await expect.poll(() => rendered.textContent(), { timeout: 20_000 }).toBe(prompt);
    expect(prompt).toContain(messages[0]?.content);
    expect(await ids()).toEqual((await post('/tokenize', { messages })).tokens);
    expect(await page.locator('#result b').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });

  it('turns ids back into their text, and says if they are not its own', async () => {
    const { tokens } = await post('/tokenize', { prompt: 'AB 漢' });
    await show('ids', tokens.join(' '));
    await page.getByText('The text becomes these ids again.').waitFor();
    expect(await page.locator('#rendered').textContent()).toBe('AB 漢');
    await show('ids', `[${tokens.at(-1)}]`);
    await page.getByText(/The text becomes other ids/).waitFor();
  });

  it('says what is wrong', async () => {
    await show('ids', '1 x');
    await page.getByText('expected token ids, not x').waitFor();
    expect(await page.locator('#result').isVisible()).toBe(false);
    await show('ids', '999999');
    await page.getByText(/token id 999999 is outside the vocabulary/).waitFor();
    await show('chat', '[{"role":"nobody","content":"x"}]');
    await page.getByText(/messages.*\(400\)/).waitFor();
  });
});
