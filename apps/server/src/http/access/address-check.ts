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
  const problem = foreignAddress(request, settings);
  if (problem === undefined) return;
  throw new ApiError({ status: 403, code: 'insufficient_permissions', message: problem });
}

/** What is foreign of the address that a request was sent to, or of the page that sent it. */
export function foreignAddress(
  { headers: { host = '', origin } }: FastifyRequest,
  { allowedHosts, allowedOrigins }: HttpSettings,
): string | undefined {
  if (!isOwnHost(host, allowedHosts)) {
    return 'this server does not answer to that host; name it with --allowed-hosts';
  }
  if (origin === undefined || isOwnOrigin(origin, host, allowedOrigins)) return undefined;
  return 'pages of that origin may not use this server; name it with --allowed-origins';
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

function isOwnHost(host: string, allowed: HttpSettings['allowedHosts']): boolean {
  if (!allowed || allowed.includes('*')) return true;
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return allowed.includes(name) || /^127(\.\d{1,3}){3}$/.test(name);
}

function isOwnOrigin(origin: string, host: string, allowed: readonly string[]): boolean {
  if (allowed.includes('*') || allowed.includes(origin)) return true;
  return /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host;
}
