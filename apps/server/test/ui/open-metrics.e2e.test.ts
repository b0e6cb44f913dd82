import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

describe.skipIf(noBrowser !== '')(`the dashboard where numbers are open to all${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;

  beforeAll(async () => {
    server = await startScripted({
      apiKeys: ['one'],
      adminApiKeys: ['root'],
      metricsAccess: 'open',
    });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    expect(browser?.faults).toEqual([]);
    await browser?.close();
    await server?.close();
  });

  it('shows them without a key, names the parts that need one, and asks for those once', async () => {
    const page = await browser.open(`${server.url}/ui/dashboard.html`);
    const list = page.getByText('An API key of the operator would show this list.');
    const load = page.getByText('The numbers above are open to all; these need an API key.');
    await Promise.all([list.waitFor(), load.waitFor()]);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(new Set(asked)).toEqual(new Set(['/metrics']));
    expect(await page.locator('#status').textContent()).toBe('');
    await page.getByLabel('API key').fill('one');
    await page.getByLabel('API key').blur();
    await page.getByText('This list needs the admin key.').waitFor();
    await page.getByRole('rowheader', { name: 'max_running_requests' }).waitFor();
    expect(await page.locator('#status').textContent()).toBe('');
  });
});
