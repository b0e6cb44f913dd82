import { ExitError } from '../errors/index.js';

/** Where an OpenAI-compatible server is, and the key that it wants. */
export interface ServerAddress {
  /** Everything before `/chat/completions` and `/models`, without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Where `altstream serve` listens unless it is told otherwise. */
export const defaultBaseUrl = 'http://127.0.0.1:8000/v1';

/**
 * Reads an address as OpenAI's clients do; one without a path gets `/v1`.
 *
 * @throws ExitError (usage) for anything but an http or https URL
 */
export function parseServerAddress(text: string, apiKey?: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const remedy = `expected an http or https URL such as ${defaultBaseUrl}`;
    throw new ExitError('usage', `--base-url is "${text}", ${remedy}`);
  }
  if (url.username !== '' || url.search !== '') {
    const remedy = 'pass the key as --api-key, and no query';
    throw new ExitError('usage', `--base-url holds more than an address; ${remedy}`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return { baseUrl: `${url.origin}${path === '' ? '/v1' : path}`, apiKey };
}
