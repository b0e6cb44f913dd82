import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../../openai/api-document.js';
import type { ServerContext } from '../../server-context.js';
import { docsFolder } from '../../ui-folder.js';

/** Of the colours of the page's logo, the only style that is not in a file. */
const logoStyle = 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w=';

/**
 * The page may run and show its own files and call its own server. Icons of its style sheet are
 * `data:`.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' '${logoStyle}'`,
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * `/openapi.json`, and `/docs` to read and try it; everything comes from this server. The page is
 * open, as it holds nothing of the server's, and has a field for the key that the document and
 * every call of it may need.
 */
export function documents(app: FastifyInstance, { settings, logger }: ServerContext): void {
  if (!settings.servesDocs) return;
  const document = apiDocument(settings.rootPath);
  const script = join(docsFolder(), 'key-field.global.js');
  const isBuilt = existsSync(script);
  if (!isBuilt) logger.warn('/docs is not built, so it has no field for a key; run `pnpm build`');
  const js = isBuilt ? [{ filename: 'key-field.js', content: readFileSync(script, 'utf8') }] : [];
  app.register(swagger, { mode: 'static', specification: { document } });
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      if (!/\/(json|yaml)$/.test(route.url)) route.config = { ...route.config, access: 'open' };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: contentSecurityPolicy,
      theme: { js },
      // Else it asks a server of others what that thinks of the document.
      uiConfig: { validatorUrl: null },
    });
  });
  app.get('/openapi.json', async () => document);
}
