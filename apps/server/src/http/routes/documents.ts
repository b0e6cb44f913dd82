import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../../openai/api-document.js';
import type { ServerContext } from '../../server-context.js';

/** The page may run and show its own files and call its own server. Icons of its style sheet are `data:`. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/openapi.json`, and `/docs` to read and try it; everything comes from this server. */
export function documents(app: FastifyInstance, { settings }: ServerContext): void {
  if (!settings.servesDocs) return;
  const document = apiDocument(settings.rootPath);
  app.register(swagger, { mode: 'static', specification: { document } });
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    // Else it asks a server of others what that thinks of the document.
    uiConfig: { validatorUrl: null },
  });
  app.get('/openapi.json', async () => document);
}
