import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';
import { serverVersion } from '../../version.js';

/** `/metrics` for Prometheus, `/version`, and `/server_info`: everything that was chosen. */
export function observe(app: FastifyInstance, context: ServerContext): void {
  app.get('/metrics', async (_, reply) => {
    if (context.engine.state === 'ready') context.metrics.setEngine(await context.engine.stats());
    return reply
      .header('content-type', context.metrics.contentType)
      .send(await context.metrics.exposition());
  });
  app.get('/version', async () => ({ version: serverVersion }));
  app.get('/server_info', async () => ({
    version: serverVersion,
    model: context.settings.servedModelNames[0],
    state: context.engine.state,
    ...(context.info ? { ...context.info.report, engine: await context.engine.describe() } : {}),
  }));
}
