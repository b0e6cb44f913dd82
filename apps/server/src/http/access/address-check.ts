import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../errors/index.js';
import type { HttpSettings } from '../../server-context.js';

/**
 * Refuses what servers and proxies may read in different ways, and pages of other sites: a browser
 * lets every page send to this machine, and a name that its owner points here looks like the page's
 * own.
 */
export function checkAddress(request: FastifyRequest, settings: HttpSettings): void {
  checkOneMeaning(request);
  if (request.routeOptions.config.access === 'open') return;
  const { host = '', origin } = request.headers;
  checkHost(host, settings.allowedHosts);
  if (origin !== undefined) checkOrigin(origin, host, settings.allowedOrigins);
}

function checkOneMeaning({ raw, url }: FastifyRequest): void {
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'host').length > 1) {
    const message = 'the request has more than one host header';
    throw new ApiError({ status: 400, code: 'invalid_http', message });
  }
  const path = url.split('?')[0] ?? '';
  // Names of models have slashes at times.
  const isModel = path.startsWith('/v1/models/');
  const isPlain = path.startsWith('/') && !path.includes('//') && (isModel || !/%2f/i.test(path));
  if (isPlain || path === '*') return;
  const message =
    'the path of the URL must begin with one slash, and have no two in a row, nor %2F';
  throw new ApiError({ status: 400, code: 'invalid_url', message });
}

function checkHost(host: string, allowed: HttpSettings['allowedHosts']): void {
  if (!allowed || allowed.includes('*')) return;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  if (allowed.includes(name) || /^127(\.\d{1,3}){3}$/.test(name)) return;
  throw refused('this server does not answer to that host; name it with --allowed-hosts');
}

function checkOrigin(origin: string, host: string, allowed: readonly string[]): void {
  if (allowed.includes('*') || allowed.includes(origin)) return;
  if (/^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host) return;
  throw refused('pages of that origin may not use this server; name it with --allowed-origins');
}

function refused(message: string): ApiError {
  return new ApiError({ status: 403, code: 'insufficient_permissions', message });
}
