import { apiKey } from './api-key.js';
import { problemText } from './problem-text.js';

/** An answer other than success, or none at all. */
export class ApiProblem extends Error {
  /** HTTP status; 0 when the server did not answer. */
  readonly status: number;
  /** The answer's body as it came. */
  readonly body: string;

  constructor(status: number, message: string, body = '') {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
    this.body = body;
  }
}

/** What a call sends. */
export interface ApiCall {
  /** Sent as JSON by POST; without one the call is a GET. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/**
 * Calls the server that served this page, with the tab's key.
 *
 * @param path below the server's root, such as `v1/models`
 * @throws ApiProblem
 */
export async function callApi(path: string, { body, signal }: ApiCall = {}): Promise<Response> {
  const key = apiKey();
  const answer = await fetch(new URL(`../${path}`, document.baseURI), {
    headers: {
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new ApiProblem(0, 'the server does not answer; is it still running?');
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  throw new ApiProblem(answer.status, problemText(answer.status, text), text);
}
