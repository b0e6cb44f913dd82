import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  requireDemoWeights,
} from '../makers/demo-model.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

/** Where pictures of the pages are wanted, if they are. */
const pictures = process.env['ALTSTREAM_UI_PICTURES'];

describe.skipIf(demoIsLeftOut || noBrowser !== '')(
  `the pages with the demo model${leftOutBecause}${noBrowser}`,
  () => {
    let server: TestServer;
    let browser: WatchedBrowser;
    let page: Page;

    beforeAll(async () => {
      requireDemoWeights();
      server = await startTestServer(demoFolder);
      browser = await startBrowser({ width: 1100, height: 720 });
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await server?.close();
    });

    const picture = async (name: string): Promise<void> => {
      if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
    };
    const ask = async (question: string): Promise<void> => {
      await page.getByLabel('Question', { exact: true }).fill(question);
      await page.keyboard.press('Enter');
      await page.getByText('Answer complete.').waitFor();
    };
    const answers = () => page.getByRole('article', { name: 'Assistant' });

    it('are asked and answer, with tools, as the API does', async () => {
      page = await browser.open(`${server.url}/ui/`);
      await page.locator('summary', { hasText: 'Parameters' }).click();
      await page.getByLabel('Temperature').fill('0');
      await page.getByLabel('Thinking').selectOption('enabled');
      await ask('Hi there! Are you there?');
      await answers().getByText('Hello! How can I help you?').waitFor();
      expect(await answers().locator('.numbers').textContent()).toMatch(/tokens\/s/);

      await page.locator('summary', { hasText: 'Tools and further' }).click();
      await page.getByLabel('Tools (JSON array)').fill(JSON.stringify([weather]));
      await page.getByRole('button', { name: 'New' }).click();
      await ask('What is the weather in Oslo?');
      await answers().getByText('Calls get_weather').waitFor();
      expect(await answers().locator('.call pre').textContent()).toContain('Oslo');
      await page.getByLabel('Result of get_weather').fill('{"temperature": 7, "sky": "cloudy"}');
      await page.getByRole('button', { name: 'Send results' }).click();
      await answers().nth(1).getByText(/7/).first().waitFor();
      await page.getByText('Answer complete.').waitFor();
      await page.evaluate('window.scrollTo(0, 0)');
      await picture('playground');
    }, 60_000);

    it('colour the tokens of an answer by what the model thought of them', async () => {
      await page.getByRole('button', { name: 'New' }).click();
      await page.getByLabel('Tools (JSON array)').fill('');
      await page.getByLabel('Most tokens').fill('60');
      await page.getByLabel('Temperature').fill('2');
      await page.getByLabel('Seed').fill('3');
      await page.getByLabel('Alternatives of each token').fill('4');
      await page.getByLabel('Thinking').selectOption('disabled');
      await ask('Tell me a story about a fox, a lamp and the sea at night.');
      await page.getByRole('tab', { name: 'Tokens' }).click();
      const tokens = page.getByRole('listbox').getByRole('option');
      await tokens.nth(3).focus();
      const rows = page.getByRole('table', { name: 'Chances' }).getByRole('row');
      expect(await rows.count()).toBeGreaterThanOrEqual(4);
      expect(await page.locator('.look .chosen').count()).toBe(1);
      const doubtful = page.getByRole('listbox').locator('.heat-3, .heat-4');
      if (pictures) await doubtful.first().hover();
      const shown = (await tokens.allTextContents()).join('').replaceAll('↵', '');
      await picture('tokens');
      await page.getByRole('tab', { name: 'Answer' }).click();
      const answer = (await answers().getByRole('paragraph').first().textContent()) ?? '?';
      expect(shown).toContain(answer.trim());
    }, 60_000);

    it('show numbers that are those of /metrics', async () => {
      await page.close();
      page = await browser.open(`${server.url}/ui/dashboard.html`);
      let isBusy = true;
      const load = Promise.all(
        Array.from({ length: 8 }, async (_, seed) => {
          while (isBusy) await server.client.chat.completions.create({ ...story, seed });
        }),
      );
      load.catch(() => 'awaited below');
      const chart = (title: string) => page.locator('.chart', { hasText: title }).locator('output');
      try {
        await expect
          .poll(() => chart('Tokens a second').textContent(), { timeout: 20_000 })
          .toMatch(/^[1-9]/);
        await page.waitForTimeout(pictures ? 6000 : 0);
        await picture('dashboard');
      } finally {
        isBusy = false;
      }
      await load;
      await expect
        .poll(() => chart('Time to first token').textContent())
        .toMatch(/^\d.*ms|^\d.* s/);
      await expect.poll(() => chart('Requests').textContent()).toBe('0 / 0');
      const cell = page
        .getByRole('row', { name: /^free / })
        .getByRole('cell')
        .first();
      const free = await server.metric('altstream_kv_pages{state="free"}');
      expect(Number((await cell.textContent())?.replace(/\s/g, ''))).toBe(free);
      expect(await page.locator('#graph-share').textContent()).toMatch(/^\d.* % of decode steps/);
    }, 60_000);

    it('draw the last step of a trace that is opened', async () => {
      const file = { name: 'trace.json', mimeType: 'application/json' };
      await page.getByLabel('Trace').setInputFiles({ ...file, buffer: Buffer.from('{}') });
      await page.getByText(/trace.json: the file has no `traceEvents`/).waitFor();
      await page.getByLabel('Trace').setInputFiles({ ...file, buffer: Buffer.from(trace) });
      await page.getByText(/step 1: 10 µs. Streams work for 7 µs, two at once for 3 µs/).waitFor();
      expect(await page.locator('#timeline rect title').allTextContents()).toEqual([
        'shared: 5 µs',
        'experts: 5 µs',
        'step 1: 10 µs',
      ]);
    });

    it('show a chat as tokens and as the text that the model gets', async () => {
      await page.goto(`${server.url}/ui/tokenizer.html`);
      await page.getByLabel('Input').selectOption('chat');
      const messages = [{ role: 'user', content: story.messages[0]?.content }];
      const chat = JSON.stringify({ messages, tools: [weather] });
      await page.getByRole('textbox', { name: 'What becomes tokens' }).fill(chat);
      await page.getByRole('button', { name: 'Show tokens' }).click();
      await page.getByRole('listbox').getByRole('option').first().waitFor();
      expect(await page.locator('#rendered').textContent()).toContain('get_weather');
      await picture('tokenizer');
    });

    it('have made no request elsewhere and broken no policy', async () => {
      expect(browser.faults).toEqual([]);
      // The watch itself: what a page must not do is seen.
      await page.evaluate('fetch("http://127.0.0.2:9/").catch(() => 0)');
      await expect.poll(() => browser.faults.join()).toMatch(/violates.*Content Security Policy/);
      await page.evaluate('void document.body.setAttribute("style", "color: red")');
      await expect.poll(() => browser.faults.join()).toMatch(/inline style/);
    });
  },
);

const story = {
  model: 'minimax-m3-tiny',
  messages: [{ role: 'user' as const, content: 'Tell me a short story.' }],
  ...{ max_tokens: 120, ignore_eos: true },
};
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Current weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
  },
};

const slice = (name: string, pid: number, tid: number, ts: number, dur: number) => ({
  ...{ ph: 'X', name, pid, tid, ts, dur },
});
const trace = JSON.stringify({
  traceEvents: [
    { ph: 'M', name: 'process_name', pid: 1, args: { name: 'host' } },
    slice('step 1', 1, 0, 10, 10),
    slice('shared', 2, 0, 11, 5),
    slice('experts', 2, 1, 13, 5),
  ],
});
