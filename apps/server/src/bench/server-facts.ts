import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Pool } from 'undici';
import { ExitError } from '../errors/index.js';

const mostFactsBytes = 256 * 1024;

/** What the server says about itself at `/server_info`, which ours and sglang's have; else null. */
export async function serverFacts(pool: Pool, apiKey: string | undefined): Promise<unknown> {
  try {
    const { statusCode, body } = await pool.request({
      path: '/server_info',
      method: 'GET',
      headers: headersOf(apiKey),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await body.text();
    return statusCode === 200 && text.length <= mostFactsBytes ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** Posts to a route that controls the server. @throws ExitError (usage) if it refuses */
export async function control(
  pool: Pool,
  path: '/flush_cache' | '/start_profile' | '/stop_profile',
  apiKey: string | undefined,
): Promise<void> {
  const { statusCode, body } = await pool.request({
    path,
    method: 'POST',
    headers: { ...headersOf(apiKey), 'content-type': 'application/json' },
    body: '{}',
  });
  const text = await body.text();
  if (statusCode >= 200 && statusCode < 300) return;
  const flag = path === '/flush_cache' ? '--flush-cache' : '--profile';
  const problem = `${flag}: the server answered POST ${path} with ${statusCode}`;
  throw new ExitError('usage', `${problem}: ${text.slice(0, 200)}; leave ${flag} out`);
}

/** The commit of this repository; null for an installed package. */
export async function ownCommit(): Promise<string | null> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  if (here.includes('node_modules')) return null;
  const git = promisify(execFile);
  return git('git', ['-C', here, 'rev-parse', '--short', 'HEAD']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
}

function headersOf(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
