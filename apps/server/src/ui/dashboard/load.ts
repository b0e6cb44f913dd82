import { ApiProblem, callApi } from '../shell/api.js';

/** What `/v1/loads` says, or why there is nothing. */
export type Load = { readonly facts: unknown } | { readonly missing: string };

let isMissing = false;

/** Asks for the load; a server without the route is asked once only. */
export async function loadOf(): Promise<Load> {
  const missing = {
    missing: 'This server has no /v1/loads; the numbers above come from /metrics.',
  };
  if (isMissing) return missing;
  try {
    const body = (await (await callApi('v1/loads')).json()) as { loads?: unknown };
    return { facts: body.loads ?? body };
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 503) return { missing: error.message };
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
    isMissing = true;
    return missing;
  }
}
