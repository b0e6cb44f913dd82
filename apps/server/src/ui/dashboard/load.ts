import { ApiProblem, callApi } from '../shell/api.js';

/** What `/v1/loads` says, or why there is nothing. */
export type Load = { readonly facts: unknown } | { readonly missing: string };

/**
 * Asks for the load; a server that lacks the route, or wants another key for it, is asked once
 * only.
 */
export class LoadSource {
  #missing: string | undefined;

  /** Another key may open the route. */
  keyChanged(): void {
    this.#missing = undefined;
  }

  /** @throws ApiProblem when the server does not answer as one that is well */
  async look(): Promise<Load> {
    if (this.#missing !== undefined) return { missing: this.#missing };
    try {
      const body = (await (await callApi('v1/loads')).json()) as { loads?: unknown };
      return { facts: body.loads ?? body };
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      // The engine is not ready yet.
      if (error.status === 503) return { missing: error.message };
      this.#missing = lasting[error.status];
      if (this.#missing === undefined) throw error;
      return { missing: this.#missing };
    }
  }
}

const closed = 'The numbers above are open to all; these need an API key.';
const lasting: Readonly<Record<number, string | undefined>> = {
  401: closed,
  403: closed,
  404: 'This server has no /v1/loads; the numbers above come from /metrics.',
};
