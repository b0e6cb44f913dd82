import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../../openai/api-document.js';
import type { ServerContext } from '../../server-context.js';

/** `/openapi.json`, and `/docs` to read and try it; everything comes from this server. */
export function documents(app: FastifyInstance, { settings }: ServerContext): void {
  if (!settings.servesDocs) return;
  const document = apiDocument(settings.rootPath);
  app.register(swagger, { mode: 'static', specification: { document } });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.get('/openapi.json', async () => document);
}
