import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';

/** What a probe is told. */
interface Health {
  readonly status: 'ok' | 'loading' | 'draining' | 'engine_dead';
  readonly phase?: string;
  readonly progress?: number;
}

const open = { config: { access: 'open' } } as const;

/** `/health` and `/readyz`: ready to serve; `/livez`: the process answers and its engine lives. */
export function health(app: FastifyInstance, context: ServerContext): void {
  for (const path of ['/health', '/readyz', '/startupz', '/ping']) {
    app.get(path, open, async (_, reply) => {
      const state = healthOf(context);
      return reply.code(state.status === 'ok' ? 200 : 503).send(state);
    });
  }
  app.get('/livez', open, async (_, reply) => {
    const isAlive = isLive(context);
    return reply.code(isAlive ? 200 : 503).send({ status: isAlive ? 'ok' : 'engine_dead' });
  });
  app.get('/health/decode', open, async (_, reply) => {
    const progress = progressOf(context);
    return reply.code(progress.status === 'stalled' ? 503 : 200).send(progress);
  });
}

/** Whether the engine still lives; a long step is not death, and neither is loading. */
function isLive({ engine, settings }: ServerContext): boolean {
  if (engine.state === 'failed') return false;
  const limit = settings.watchdogSeconds;
  return limit === 0 || engine.heartbeatAge === undefined || engine.heartbeatAge <= limit;
}

/** Whether requests get tokens; nothing is generated to find out, and the engine is not asked. */
interface DecodeProgress {
  readonly status: 'ok' | 'idle' | 'stalled';
  /** Requests that wait for tokens. */
  readonly running: number;
  readonly last_token_age_seconds: number | null;
  readonly stall_threshold_seconds: number;
}

function progressOf({ engine, settings }: ServerContext): DecodeProgress {
  const { open: running, silentMs } = engine.activity;
  const limit = settings.watchdogSeconds;
  const age = silentMs === undefined ? null : silentMs / 1000;
  const isStalled = limit > 0 && age !== null && age > limit;
  return {
    status: age === null ? 'idle' : isStalled ? 'stalled' : 'ok',
    running,
    last_token_age_seconds: age,
    stall_threshold_seconds: limit,
  };
}

/** What a probe of readiness is told. */
export function healthOf(context: ServerContext): Health {
  const { engine, isDraining } = context;
  if (isDraining) return { status: 'draining' };
  if (engine.state === 'ready') return { status: isLive(context) ? 'ok' : 'engine_dead' };
  if (engine.state !== 'loading') return { status: 'engine_dead' };
  const { phase, done, total } = engine.progress;
  return { status: 'loading', phase, progress: total > 0 ? done / total : 0 };
}
