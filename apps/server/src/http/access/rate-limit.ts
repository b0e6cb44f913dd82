import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { tooMany } from './token-budget.js';

/** Routes whose requests count. */
const metered = new Set(['/v1/chat/completions', '/v1/completions', '/tokenize', '/v1/tokenize']);

/** Requests a minute for each key; routes that are added afterwards obey. 0 = no limit. */
export function limitRequests(app: FastifyInstance, perMinute: number): void {
  if (perMinute === 0) return;
  app.register(rateLimit, {
    max: perMinute,
    timeWindow: 60_000,
    keyGenerator: ({ tenant }) => tenant,
    allowList: ({ routeOptions }) => !metered.has(routeOptions.url ?? ''),
    errorResponseBuilder: (_, { ttl }) =>
      tooMany(`this key has sent its ${perMinute} requests of this minute`, ttl),
  });
}
