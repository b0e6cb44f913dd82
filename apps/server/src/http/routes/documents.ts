import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../../openai/api-document.js';

/** `/openapi.json`, and `/docs` to read and try it; everything comes from this server. */
export function documents(app: FastifyInstance): void {
  const document = apiDocument();
  app.register(swagger, { mode: 'static', specification: { document } });
  app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.get('/openapi.json', async () => document);
}
