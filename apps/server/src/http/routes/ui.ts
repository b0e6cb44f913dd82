import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/index.js';
import type { ServerContext } from '../../server-context.js';
import { uiFolder } from '../../ui-folder.js';

/** What a page may do: run and show its own files, and call its own server. Nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // A copy may be kept, but is asked about each time: an update shows at once.
  'cache-control': 'no-cache',
};

/**
 * The web pages at `/ui/`: static files, open without a key since they hold nothing of the
 * server's; the pages' own calls carry the key.
 */
export function ui(app: FastifyInstance, { settings, logger }: ServerContext): void {
  if (!settings.servesUi) return;
  const root = uiFolder();
  if (!existsSync(join(root, 'index.html'))) {
    logger.warn('the web pages are not built, so /ui answers 404; run `pnpm build`');
    app.get('/ui', { config: { access: 'open' } }, async () => {
      throw new ApiError({
        status: 404,
        code: 'ui_not_built',
        message: 'the web pages are not built',
      });
    });
    return;
  }
  const tags = entityTags(root);
  app.get('/ui', { config: { access: 'open' } }, async (_, reply) =>
    reply.code(308).header('location', 'ui/').send(),
  );
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'open' };
    });
    scope.addHook('onRequest', async (request, reply) => {
      const file = request.url.split('?')[0]?.slice('/ui/'.length) || 'index.html';
      const tag = tags.get(file);
      reply.headers({ ...pageHeaders, ...(tag === undefined ? {} : { etag: tag }) });
      const known = request.headers['if-none-match']?.split(/\s*,\s*/) ?? [];
      if (tag !== undefined && known.includes(tag)) return reply.code(304).send();
    });
    // Each file is a route of its own, so that no path is looked up on the disk.
    await scope.register(fastifyStatic, {
      root,
      prefix: '/ui/',
      wildcard: false,
      decorateReply: false,
      cacheControl: false,
      etag: false,
      lastModified: false,
    });
  });
}

/** From the bytes: installed files of two versions can have the same size and date. */
function entityTags(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(root).map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(root, name)));
    return [name, `"${hash.digest('base64url').slice(0, 22)}"`] as const;
  });
  return new Map(files);
}
