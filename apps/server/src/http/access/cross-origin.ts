import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** Lets pages of the named origins read answers; without one no page of another site can. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders: ['authorization', 'content-type', 'x-api-key', 'x-request-id'],
    exposedHeaders: [
      ...['x-request-id', 'x-max-tokens-clamped', 'x-ignored-params'],
      ...['retry-after', 'retry-after-ms'],
    ],
    maxAge: 600,
  });
}
