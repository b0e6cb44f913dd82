import type { FastifyInstance } from 'fastify';
import type { HttpSettings } from '../../server-context.js';

const generating = new Set(['/v1/chat/completions', '/v1/completions']);

/** Fills in what the operator allows requests to leave out, before anything of them is checked. */
export function fillIn(app: FastifyInstance, settings: HttpSettings): void {
  const { allowMissingModel, forceUsage, servedModelNames } = settings;
  if (!allowMissingModel && !forceUsage) return;
  app.addHook('preHandler', async ({ body, routeOptions }) => {
    if (!generating.has(routeOptions.url ?? '') || !isObject(body)) return;
    if (allowMissingModel) body['model'] ??= servedModelNames[0];
    if (!forceUsage || body['stream'] !== true) return;
    body['stream_options'] ??= {};
    const options = body['stream_options'];
    if (!isObject(options)) return;
    // What is no boolean is refused later, by its name.
    if (typeof (options['include_usage'] ?? false) === 'boolean') options['include_usage'] = true;
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
