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

  it('/docs opens without a key, takes one, and shows and tries the API with it', async () => {
    const page = await browser.open(`${server.url}/docs`);
    await page.getByText('Failed to load API definition.').waitFor();
    await page.getByLabel(/^API key/).fill('secret');
    await page.keyboard.press('Enter');
    await page.getByText('/v1/chat/completions', { exact: true }).waitFor();
    const models = page.locator('.opblock', { hasText: '/v1/models' }).first();
    await models.locator('.opblock-summary').click();
    await models.getByRole('button', { name: 'Try it out' }).click();
    const answer = page.waitForResponse((response) => response.url().endsWith('/v1/models'));
    await models.getByRole('button', { name: 'Execute' }).click();
    expect((await answer).status()).toBe(200);
    await models.locator('.live-responses-table').getByText('"m3"').first().waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('secret');
    expect(page.url()).not.toContain('secret');
    // The pages share the key of their tab.
    await page.goto(`${server.url}/ui/dashboard.html`);
    expect(await page.getByLabel('API key').inputValue()).toBe('secret');
    expect(browser.faults).toEqual([]);
  }, 60_000);
});
