import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const chromiumPath = '/usr/bin/chromium';

/** Why tests in a browser are left out here, for their titles; empty where they run. */
export const noBrowser = existsSync(chromiumPath)
  ? ''
  : ` (left out: ${chromiumPath} is missing; apt-get install chromium)`;

/** A browser whose pages are watched. */
export interface WatchedBrowser {
  /** A new tab. */
  open(url: string): Promise<Page>;
  /** Requests to another origin than the first page's, and what the page's policy refused. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** Starts Debian's Chromium with an empty profile and nothing that calls home. */
export async function startBrowser(
  options: { width?: number; height?: number; dark?: boolean } = {},
): Promise<WatchedBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'altstream-chromium-'));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  });
  const faults: string[] = [];
  let origin: string | undefined;
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.origin !== origin) faults.push(`request to ${url.href}`);
  });
  // Chromium reports each violation of a policy on the console.
  context.on('console', (message) => {
    const text = message.text();
    if (/content security policy|trusted ?type/i.test(text)) faults.push(text);
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  return {
    faults,
    open: async (url) => {
      origin ??= new URL(url).origin;
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await page.goto(url);
      return page;
    },
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
