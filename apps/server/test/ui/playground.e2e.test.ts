import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { noBrowser, startBrowser, type WatchedBrowser } from './browser.js';

const thought = '<mm:think>It greets me.</mm:think>';

describe.skipIf(noBrowser !== '')(`the playground in Chromium${noBrowser}`, () => {
  let server: ScriptedServer;
  let browser: WatchedBrowser;
  let page: Page;

  beforeAll(async () => {
    server = await startScripted();
    browser = await startBrowser();
  }, 60_000);
  beforeEach(async () => {
    await page?.close();
    page = await browser.open(`${server.url}/ui/`);
    await page.getByRole('button', { name: 'New' }).click();
  });
  afterAll(async () => {
    expect(browser?.faults).toEqual([]);
    await browser?.close();
    await server?.close();
  });

  const ask = async (question: string, ...texts: string[]): Promise<void> => {
    server.engine.scripts = texts.map((text) => ({ text }));
    await page.getByLabel('Question', { exact: true }).fill(question);
    await page.keyboard.press('Enter');
  };
  const answer = () => page.getByRole('article', { name: 'Assistant' }).last();
  const isOver = () => page.getByText('Answer complete.').waitFor();
  const lastBody = (): string => server.engine.received.at(-1)?.prompt.length.toString() ?? '';

  it('shows an answer with its numbers', async () => {
    await ask('Hi', 'Good day.');
    await isOver();
    await answer().getByText('Good day.').waitFor();
    expect(await answer().locator('.numbers').textContent()).toMatch(/\d+ tokens .*prompt \d+/);
  });

  it('folds thoughts, and unfolds them by the keyboard', async () => {
    await ask('Hi', `${thought}Good day.`);
    await isOver();
    const text = answer().getByText('It greets me.');
    expect(await text.isVisible()).toBe(false);
    await answer()
      .getByText(/Thought for/)
      .focus();
    await page.keyboard.press('Enter');
    expect(await text.isVisible()).toBe(true);
  });

  it('keeps markup in an answer as text, and code as code (S22)', async () => {
    const attack = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    await ask('Hi', `${attack}\n\n\`\`\`js\n${attack}\n\`\`\``);
    await isOver();
    expect(await answer().getByRole('paragraph').textContent()).toBe(attack);
    expect(await answer().locator('pre code').textContent()).toBe(attack);
    expect(await page.locator('.turn img, .turn script').count()).toBe(0);
    expect(await page.title()).toBe('Playground · Altstream');
  });

  it('stops an endless answer by button and by Escape, and keeps what came', async () => {
    for (const stop of ['button', 'Escape']) {
      server.engine.scripts = [{ text: 'again ', reason: 'never' }];
      await page.getByLabel('Question', { exact: true }).fill('Hi');
      await page.keyboard.press('Enter');
      await answer()
        .getByText(/again again/)
        .waitFor();
      if (stop === 'button') await page.getByRole('button', { name: 'Stop' }).click();
      else await page.keyboard.press('Escape');
      await answer().getByText('Stopped.').waitFor();
      expect(await answer().textContent()).toContain('again again');
      await expect.poll(() => server.engine.received.at(-1)?.isAborted).toBe(true);
    }
  });

  it('answers once more, and asks an edited question again without what followed', async () => {
    await ask('First', 'One.', 'Two.', 'Three.');
    await answer().getByText('One.').waitFor();
    await answer().getByRole('button', { name: 'Regenerate' }).click();
    await answer().getByText('Two.').waitFor();
    expect(await page.getByText('One.').count()).toBe(0);
    await isOver();
    const before = lastBody();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited question').fill('Second, longer');
    await page.getByRole('button', { name: 'Send again' }).click();
    await answer().getByText('Three.').waitFor();
    expect(Number(lastBody())).toBeGreaterThan(Number(before));
    expect(await page.getByRole('article').count()).toBe(2);
  });

  it('sends parameters and names a wrong one', async () => {
    await page.getByText('Parameters', { exact: true }).click();
    await page.getByLabel('Temperature').fill('3');
    await ask('Hi', 'Fine.');
    await page.getByText('Temperature: expected a number from 0 to 2, not 3').waitFor();
    await page.getByLabel('Temperature').fill('0.5');
    await page.getByLabel('Most tokens').fill('4');
    await page.getByRole('button', { name: 'Send' }).click();
    await answer()
      .getByText(/Cut off at the most tokens/)
      .waitFor();
    expect(server.engine.received.at(-1)?.parameters).toMatchObject({
      temperature: 0.5,
      maxTokens: 4,
    });
    await page.getByLabel('Most tokens').fill('');
    await page.getByLabel('Temperature').fill('');
    await page.getByLabel('Temperature').blur();
  });

  it('keeps conversations over a reload and saves them as files', async () => {
    await ask('Remember me', 'I will.');
    await isOver();
    await page.reload();
    await answer().getByText('I will.').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as Markdown' }).click(),
    ]);
    const text = readFileSync(await file.path(), 'utf8');
    expect(text).toBe('# Remember me\n\n## User\n\nRemember me\n\n## Assistant\n\nI will.\n');
  });

  it('says what went wrong and keeps the question', async () => {
    server.engine.scripts = [
      { text: '', refusal: { name: 'E', code: 'ENGINE_CAPACITY', message: 'full', facts: {} } },
    ];
    await page.getByLabel('Question', { exact: true }).fill('Hi');
    await page.keyboard.press('Enter');
    await answer()
      .getByText(/full.* \(503\)/)
      .waitFor();
    expect(await page.getByRole('article', { name: 'You' }).textContent()).toContain('Hi');
  });

  it('fits a phone: nothing is wider than 360 px', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await ask('Hi', `\`\`\`\n${'wide '.repeat(60)}\n\`\`\`\n\n${'long'.repeat(80)}`);
    await isOver();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });
});
