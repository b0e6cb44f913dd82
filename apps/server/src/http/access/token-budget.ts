import { ApiError } from '../../errors/index.js';

/**
 * Tokens a minute for each key. What a request uses is known at its end only, so a key that is in
 * debt waits until the minute's tokens have grown back; the request that made the debt is served.
 */
export class TokenBudget {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #levels = new Map<string, { tokens: number; atMs: number }>();

  /** @param perMinute 0 = no limit */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** @throws ApiError 429 if the key is in debt */
  check(tenant: string): void {
    if (this.#perMinute === 0) return;
    const left = this.#left(tenant);
    if (left > 0) return;
    const milliseconds = Math.ceil(((1 - left) / this.#perMinute) * 60_000);
    throw tooMany(`this key has used its ${this.#perMinute} tokens a minute`, milliseconds);
  }

  /** Takes what a request used. */
  charge(tenant: string, tokens: number): void {
    if (this.#perMinute === 0) return;
    this.#levels.set(tenant, { tokens: this.#left(tenant) - tokens, atMs: this.#now() });
  }

  #left(tenant: string): number {
    const level = this.#levels.get(tenant);
    if (!level) return this.#perMinute;
    const grown = ((this.#now() - level.atMs) / 60_000) * this.#perMinute;
    return Math.min(this.#perMinute, level.tokens + grown);
  }
}

/** A 429 that says when to come back. */
export function tooMany(message: string, milliseconds: number): ApiError {
  return new ApiError({
    status: 429,
    code: 'rate_limit_exceeded',
    message,
    headers: {
      'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))),
      'retry-after-ms': String(milliseconds),
    },
  });
}
