import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, type ApiErrorFacts } from '../errors/index.js';
import type { ServerContext } from '../server-context.js';
import { EngineWorkerError } from '../worker/engine-worker-error.js';
import { toApiError } from './error-response.js';
import { retryHeaders } from './retry-after.js';
import type { RouteTable } from './route-table.js';

/** What other servers have and this one has not: a client learns that it is no typing error. */
const elsewhere =
  /^(\/v1)?\/(embeddings|score|pooling|classify|audio|images|responses|messages|moderations|files|batches|fine_tuning|assistants|threads|vector_stores|realtime|load_lora_adapter|unload_lora_adapter)(\/|$)|^(\/v[12])?\/rerank$|^\/(generate|completion|infill|invocations|encode|open_session|close_session|update_weights_from_\w+|release_memory_occupation|resume_memory_occupation)$|^\/api\//;

/** Error bodies for what a route throws, and for what no route takes. */
export function addRefusals(
  app: FastifyInstance,
  context: ServerContext,
  routes: RouteTable,
): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown);
    if (error.status >= 500 && error.status !== 503)
      context.logger.error({ err: error.cause ?? error }, 'request failed');
    const status = error.code === 'overloaded' ? context.settings.overloadStatus : error.status;
    if (!request.hasTicket) logRefusal(context, request, { code: error.code, status });
    countRejection(context, request, error);
    return reply.code(status).headers(retryHeaders(error, context)).send(error.body);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const methods = routes.methodsOf(path);
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    const facts = factsOf(path, request.method, methods);
    return reply.code(facts.status).send(new ApiError(facts).body);
  });
}

/**
 * Counts what was well-formed and got no place; one that lost its place is counted with its end.
 */
function countRejection(
  { metrics: { requests } }: ServerContext,
  { hasTicket }: FastifyRequest,
  { code, cause }: ApiError,
): void {
  if (code === 'shutting_down' && !hasTicket) requests.reject('draining');
  if (code !== 'overloaded') return;
  const isTokens = cause instanceof EngineWorkerError && cause.facts['reason'] === 'tokens';
  requests.reject(isTokens ? 'queue_tokens' : 'queue_full');
}

/** A request that was refused before it could run; one that ran has a line of its own. */
function logRefusal(
  { settings, logger }: ServerContext,
  { id, routeOptions }: FastifyRequest,
  answer: { readonly code: string; readonly status: number },
): void {
  if (!settings.logRequests) return;
  // Never the text of the path: it is the client's.
  const { url: route } = routeOptions;
  logger.info({ request: id, outcome: 'refused', ...answer, route }, 'request');
}

function factsOf(path: string, method: string, methods: readonly string[]): ApiErrorFacts {
  if (methods.length > 0) {
    const message = `${path} takes ${methods.join(', ')}`;
    return { status: 405, code: 'method_not_allowed', message };
  }
  if (elsewhere.test(path)) {
    const message = `${path} is not supported by this server; docs/api.md lists what is`;
    return { status: 404, code: 'unsupported_endpoint', message };
  }
  return { status: 404, code: 'unknown_url', message: `there is no ${method} ${path} here` };
}
