import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, {
  type ConnectionError,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { ApiError } from '../errors/index.js';
import { idPattern } from '../openai/request-id.js';
import type { ServerContext } from '../server-context.js';
import { checkAddress } from './access/address-check.js';
import { allowOrigins } from './access/cross-origin.js';
import { Gate } from './access/gate.js';
import { limitRequests } from './access/rate-limit.js';
import { acceptJsonBodies } from './json-body.js';
import { addRefusals } from './refusals.js';
import { fillIn } from './request/operator-defaults.js';
import { withoutRoot } from './request/without-root.js';
import { RouteTable } from './route-table.js';
import { chatCompletions } from './routes/chat-completions.js';
import { completions } from './routes/completions.js';
import { documents } from './routes/documents.js';
import { greeting } from './routes/greeting.js';
import { health } from './routes/health.js';
import { loads } from './routes/loads.js';
import { models } from './routes/models.js';
import { observe } from './routes/observe.js';
import { operate } from './routes/operate.js';
import { tokens } from './routes/tokens.js';
import { ui } from './routes/ui.js';
import { checkClients, secureOptions } from './tls/secure-server.js';
import type { TlsFiles } from './tls/tls-files.js';
import { closeUnusedConnections } from './unused-connections.js';

/**
 * The HTTP side: routes, authentication, error bodies. It knows the engine by the context only.
 *
 * @param tls without it connections are plain
 */
export function makeApp(context: ServerContext, tls?: TlsFiles): FastifyInstance {
  const app = Fastify({
    ...(tls ? { https: secureOptions(tls) } : {}),
    bodyLimit: context.settings.maxBodyBytes,
    keepAliveTimeout: 75_000,
    requestTimeout: uploadTimeoutMs(context.settings.maxBodyBytes),
    clientErrorHandler: answerMalformed,
    genReqId: requestId,
    frameworkErrors: answerBadUrl,
    rewriteUrl: ({ url = '' }) => withoutRoot(url, context.settings.rootPath),
    // Names of models are paths of folders at times.
    routerOptions: { maxParamLength: 4096 },
    forceCloseConnections: 'idle',
    // Plain or not, the server has the same events and limits.
  }) as unknown as FastifyInstance;
  if (tls) checkClients(app, tls);
  app.server.headersTimeout = 60_000;
  // Some clients close their half of the socket once the request is sent, and still read.
  (app.server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  const routes = new RouteTable(app);
  app.decorate('routeTable', routes);
  acceptJsonBodies(app);
  closeUnusedConnections(app);
  addRefusals(app, context, routes);
  addFirstHook(app, context);
  allowOrigins(app, context.settings.allowedOrigins);
  limitRequests(app, context.settings.requestsPerMinute);
  app.server.maxConnections = context.settings.maxConnections;
  app.server.on('drop', () => context.metrics.countRefusedConnection());
  // Behind the cross-origin rules, since a browser asks for those without a key.
  app.after(() => {
    addHooks(app, context);
    fillIn(app, context.settings);
    const parts = [
      chatCompletions,
      completions,
      tokens,
      models,
      health,
      loads,
      observe,
      operate,
      ui,
      documents,
      greeting,
    ];
    for (const part of parts) part(app, context);
  });
  return app;
}

function addFirstHook(app: FastifyInstance, context: ServerContext): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (context.isDraining) reply.header('connection', 'close');
    checkAddress(request, context.settings);
  });
}

function addHooks(app: FastifyInstance, context: ServerContext): void {
  const gate = new Gate(context.settings);
  app.decorate('gate', gate);
  app.decorateRequest('tenant', '');
  app.decorateRequest('hasTicket', false);
  app.addHook('onRequest', async (request) => gate.check(request));
  app.addHook('onResponse', async (request, reply) => {
    const handler = request.routeOptions.url ?? 'unknown';
    context.metrics.countHttp(handler, request.method, reply.statusCode, reply.elapsedTime / 1000);
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
  return typeof given === 'string' && idPattern.test(given) ? given : randomUUID();
}
