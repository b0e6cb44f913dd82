import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../../server-context.js';

/** What a probe is told. */
interface Health {
  readonly status: 'ok' | 'loading' | 'draining' | 'engine_dead';
  readonly phase?: string;
  readonly progress?: number;
}

/** `/health` and `/readyz`: ready to serve; `/livez`: the process answers and its engine lives. */
export function health(app: FastifyInstance, context: ServerContext): void {
  for (const path of ['/health', '/readyz', '/startupz', '/ping']) {
    app.get(path, async (_, reply) => {
      const state = healthOf(context);
      return reply.code(state.status === 'ok' ? 200 : 503).send(state);
    });
  }
  app.get('/livez', async (_, reply) => {
    const isAlive = context.engine.state !== 'failed';
    return reply.code(isAlive ? 200 : 503).send({ status: isAlive ? 'ok' : 'engine_dead' });
  });
}

function healthOf({ engine, isDraining }: ServerContext): Health {
  if (isDraining) return { status: 'draining' };
  if (engine.state === 'ready') return { status: 'ok' };
  if (engine.state !== 'loading') return { status: 'engine_dead' };
  const { phase, done, total } = engine.progress;
  return { status: 'loading', phase, progress: total > 0 ? done / total : 0 };
}
