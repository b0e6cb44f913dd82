import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, {
  type ConnectionError,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { ApiError } from '../errors/index.js';
import type { ServerContext } from '../server-context.js';
import { toApiError } from './error-response.js';
import { acceptJsonBodies } from './json-body.js';
import { chatCompletions } from './routes/chat-completions.js';
import { completions } from './routes/completions.js';
import { health } from './routes/health.js';
import { models } from './routes/models.js';
import { observe } from './routes/observe.js';
import { closeUnusedConnections } from './unused-connections.js';

const openPaths = new Set(['/health', '/livez', '/readyz', '/startupz', '/ping']);
const methods: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'POST',
  '/v1/completions': 'POST',
  ...Object.fromEntries(
    [...openPaths, '/v1/models', '/metrics', '/version', '/server_info'].map((path) => [
      path,
      'GET',
    ]),
  ),
};
const idHeader = /^[A-Za-z0-9._:-]{1,128}$/;

/** The HTTP side: routes, authentication, error bodies. It knows the engine by the context only. */
export function makeApp(context: ServerContext): FastifyInstance {
  const app = Fastify({
    bodyLimit: context.settings.maxBodyBytes,
    keepAliveTimeout: 75_000,
    requestTimeout: uploadTimeoutMs(context.settings.maxBodyBytes),
    clientErrorHandler: answerMalformed,
    genReqId: requestId,
    frameworkErrors: answerBadUrl,
    // Names of models are paths of folders at times.
    routerOptions: { maxParamLength: 4096 },
    forceCloseConnections: 'idle',
  });
  app.server.headersTimeout = 60_000;
  // Some clients close their half of the socket once the request is sent, and still read.
  (app.server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  acceptJsonBodies(app);
  closeUnusedConnections(app);
  addHooks(app, context);
  for (const route of [chatCompletions, completions, models, health, observe]) route(app, context);
  addRefusals(app, context);
  return app;
}

function addHooks(app: FastifyInstance, context: ServerContext): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (context.isDraining) reply.header('connection', 'close');
    if (!openPaths.has(request.url.split('?')[0] ?? '')) authenticate(request, context);
  });
  app.addHook('onResponse', async (request, reply) => {
    const handler = request.routeOptions.url ?? 'unknown';
    context.metrics.countHttp(handler, request.method, reply.statusCode, reply.elapsedTime / 1000);
  });
}

function addRefusals(app: FastifyInstance, context: ServerContext): void {
  app.setErrorHandler((thrown, _, reply) => {
    const error = toApiError(thrown);
    if (error.status >= 500 && error.status !== 503)
      context.logger.error({ err: error.cause ?? error }, 'request failed');
    return reply.code(error.status).headers(error.headers).send(error.body);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    const isModel = /^\/v1\/models\/./.test(path);
    const allowed = Object.hasOwn(methods, path) ? methods[path] : isModel ? 'GET' : undefined;
    const facts = allowed
      ? { status: 405, code: 'method_not_allowed', message: `${path} takes ${allowed}` }
      : { status: 404, code: 'unknown_url', message: `there is no ${request.method} ${path} here` };
    if (allowed) reply.header('allow', allowed);
    return reply.code(facts.status).send(new ApiError(facts).body);
  });
}

/** A minute, and a second for each MiB that a body may have. */
function uploadTimeoutMs(maxBodyBytes: number): number {
  return 60_000 + Math.ceil(maxBodyBytes / 2 ** 20) * 1000;
}

const malformed: Readonly<Record<string, [status: string, code: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'headers_too_large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout'],
};

/** A path that no route can read, such as `/%zz`; no hook has run yet. */
function answerBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { body } = new ApiError({
    status: 400,
    code: 'invalid_url',
    message: `the URL cannot be read: ${error.message}`,
  });
  void reply.code(400).header('x-request-id', request.id).send(body);
}

/** What is no HTTP request is answered by hand; the connection ends. */
function answerMalformed(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code] = malformed[error.code] ?? ['400 Bad Request', 'invalid_http'];
  const { body } = new ApiError({
    status: Number.parseInt(status, 10),
    code,
    message: `the request cannot be read: ${status.slice(4)}`,
  });
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  );
}

/** A client's own id if it is a sane one, else a new one. */
function requestId(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && idHeader.test(given) ? given : randomUUID();
}

function authenticate({ headers }: FastifyRequest, { settings }: ServerContext): void {
  if (settings.apiKeys.length === 0) return;
  const given = digest((headers.authorization ?? '').replace(/^Bearer\s+/i, ''));
  // Every key is compared, in constant time, so that timing tells nothing.
  const matches = settings.apiKeys.map((key) => timingSafeEqual(digest(key), given));
  if (matches.includes(true)) return;
  throw new ApiError({
    status: 401,
    code: 'invalid_api_key',
    message: 'the API key is missing or wrong; send it as `Authorization: Bearer KEY`',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
