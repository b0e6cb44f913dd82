import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

describe.skipIf(noBrowser !== '')(`the dashboard in Chromium${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;
  let page: Page;

  beforeAll(async () => {
    server = await startScripted({ apiKeys: ['one'], adminApiKeys: ['root'] });
    server.engine.state = 'loading';
    browser = await startBrowser({ width: 360, height: 740 });
    page = await browser.open(`${server.url}/ui/dashboard.html`);
  }, 60_000);
  afterAll(async () => {
    expect(browser?.faults).toEqual([]);
    await browser?.close();
    await server?.close();
  });

  const useKey = async (key: string): Promise<void> => {
    await page.getByLabel('API key').fill(key);
    await page.getByLabel('API key').blur();
  };
  const ask = (id: string) =>
    fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer one' },
      body: JSON.stringify({ model: 'm3', prompt: 'Hi', max_tokens: 9e5, request_id: id }),
    });

  it('shows how the start goes on, and that it is over', async () => {
    await page.getByText('Loading: ready, 100 %').waitFor();
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('1');
    server.engine.state = 'ready';
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    expect(await page.locator('#banner').isVisible()).toBe(false);
  });

  it('lists requests to the operator only, who may end them', async () => {
    await page.getByText(/No numbers: the API key is missing or wrong/).waitFor();
    await useKey('one');
    await page.getByText('This list needs the admin key.').waitFor();
    await useKey('root');
    const part = page.getByRole('region', { name: 'Requests under way' });
    await part.getByText('None.').waitFor();
    server.engine.scripts = [{ text: 'late', waitMs: 300_000 }];
    const asked = [ask('first'), ask('second')];
    const row = part.getByRole('row', { name: /^first waiting / });
    await row.waitFor();
    await part.getByRole('row', { name: /^second waiting / }).waitFor();
    expect(await part.getByRole('row').count()).toBe(3);
    await part.getByRole('button', { name: 'Abort first' }).focus();
    await page.keyboard.press('Enter');
    await part.getByText('first was aborted.').waitFor();
    expect(await (await asked[0])?.text()).toContain('request_aborted');
    await row.waitFor({ state: 'detached' });
    await part.getByRole('button', { name: 'Abort second' }).click();
    expect((await asked[1])?.status).toBe(503);
    await part.getByText('None.').waitFor();
  });

  it('shows the settings to the operator', async () => {
    await page.getByText('Settings', { exact: true }).click();
    await page.getByRole('row', { name: 'api-key not shown (1) environment' }).waitFor();
  });

  it('counts what was refused and what ended early, as /metrics does', async () => {
    server.engine.scripts = [
      { text: '', refusal: { name: 'E', code: 'ENGINE_CAPACITY', message: 'full', facts: {} } },
    ];
    await ask('third');
    const part = page.getByRole('region', { name: 'Refused and ended early' });
    await part.getByRole('row', { name: 'queue_full 1' }).waitFor();
    await part.getByRole('row', { name: 'operator 2' }).waitFor();
  });

  it('fits a phone', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });
});
