import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

describe.skipIf(noBrowser !== '')(`the pages of a server with a key${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;

  beforeAll(async () => {
    server = await startScripted({ apiKeys: ['secret'] });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('ask for the key, and keep it in their own tab only', async () => {
    const page = await browser.open(`${server.url}/ui/`);
    await page.getByText(/API key is missing or wrong/).waitFor();
    await page.locator('summary', { hasText: 'API key' }).click();
    await page.getByLabel('API key').fill('secret');
    await page.getByLabel('API key').blur();
    await page.getByLabel('Question', { exact: true }).fill('Hi');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Assistant' }).getByText('Hello').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('secret');
    expect(await page.evaluate('document.cookie')).toBe('');
    const other = await browser.open(`${server.url}/ui/`);
    await other.getByText(/API key is missing or wrong/).waitFor();
    expect(browser.faults).toEqual([]);
  });
});
