import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/index.js';
import type { RequestLook } from '../../generation/live-requests.js';
import { parseAbortRequest, parseProfileRequest } from '../../openai/admin-requests.js';
import type { ServerContext } from '../../server-context.js';
import { profileFile } from '../profile-file.js';

const admin = { config: { access: 'admin' } } as const;
const adminPost = { config: { access: 'admin', mayBeEmpty: true } } as const;

/**
 * Routes of the operator: seeing settings and requests, ending these, emptying the prefix cache,
 * profiles.
 */
export function operate(app: FastifyInstance, context: ServerContext): void {
  app.get('/admin/requests', admin, async () => ({
    requests: context.active.list().map((request) => shown(request.look())),
  }));
  app.get('/admin/settings', admin, async () => ({
    settings: context.given.map(({ name, text, source }) => ({ name, value: text, source })),
  }));
  app.post('/abort_request', adminPost, async ({ body }) => {
    const { id } = parseAbortRequest(body);
    const ended = id === undefined ? context.active.list() : [liveOf(id, context)];
    for (const request of ended) request.stop(abortedByOperator());
    return { aborted: ended.map((request) => request.id) };
  });
  for (const path of ['/flush_cache', '/reset_prefix_cache']) {
    app.post(path, adminPost, async () => ({
      evicted_pages: await context.engine.flushPrefixCache(),
    }));
  }
  app.post('/start_profile', adminPost, async ({ body }) => {
    const { num_steps: steps, output_dir: folder } = parseProfileRequest(body);
    const file = await profileFile(context.settings.profileDirectory, folder ?? undefined);
    await context.engine.startProfile({ file, ...(steps == null ? {} : { steps }) });
    return { file };
  });
  app.post('/stop_profile', adminPost, async () => context.engine.stopProfile());
}

/** A request in the words of the API; none of them is of its prompt or answer. */
function shown(look: RequestLook): Record<string, unknown> {
  return {
    request_id: look.id,
    endpoint: look.path,
    state: look.state,
    age_seconds: look.ageMs / 1000,
    tenant: look.tenant,
    n: look.n ?? null,
    prompt_tokens: look.promptTokens ?? null,
    generated_tokens: look.generatedTokens,
  };
}

function liveOf(id: string, { active }: ServerContext) {
  const request = active.get(id);
  if (request) return request;
  const message = `no request with the id ${JSON.stringify(id.slice(0, 128))} is under way`;
  throw new ApiError({ status: 404, code: 'request_not_found', message });
}

/** Sending it again would not be what the operator wants. */
function abortedByOperator(): ApiError {
  const headers = { 'x-should-retry': 'false' };
  const message = 'the operator of the server ended this request';
  return new ApiError({ status: 503, code: 'request_aborted', message, headers });
}
