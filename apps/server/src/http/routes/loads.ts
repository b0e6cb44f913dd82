import type { EngineStats } from '@altstream/engine';
import type { FastifyInstance } from 'fastify';
import { fieldError } from '../../openai/parse-body.js';
import type { ServerContext } from '../../server-context.js';
import { unavailable } from '../error-response.js';

const sections = ['core', 'memory', 'queues', 'all'] as const;
type Section = (typeof sections)[number];
const gb = 1e9;

/** `GET /v1/loads`, which routers poll: how busy the engine is, under sglang's names. */
export function loads(app: FastifyInstance, context: ServerContext): void {
  app.get<{ Querystring: { include?: string } }>('/v1/loads', async ({ query }) => {
    const wanted = sectionsOf(query.include);
    const { engine } = context;
    if (engine.state !== 'ready')
      throw unavailable('model_loading', `the engine is ${engine.state}`);
    const stats = await engine.stats();
    const load = { ...coreOf(stats, context), ...moreOf(wanted, stats, context) };
    return {
      timestamp: new Date().toISOString(),
      dp_rank_count: 1,
      loads: [load],
      aggregate: {
        total_running_reqs: load.num_running_reqs,
        total_waiting_reqs: load.num_waiting_reqs,
        total_reqs: load.num_running_reqs + load.num_waiting_reqs,
        avg_token_usage: load.token_usage,
        avg_throughput: load.gen_throughput,
        avg_utilization: load.utilization,
      },
    };
  });
}

function sectionsOf(include = 'core'): ReadonlySet<Section> {
  const names = include.split(',');
  const wrong = names.find((name) => !(sections as readonly string[]).includes(name));
  if (wrong === undefined) return new Set(names as Section[]);
  throw fieldError('include', `knows ${sections.join(', ')}, received ${wrong}`);
}

function coreOf(stats: EngineStats, { info, metrics }: ServerContext) {
  const { pages, running, waiting, prefixCache } = stats;
  const { pageTokens = 0, maxSequences = 1 } = info ?? {};
  const used = pages.pinned;
  return {
    dp_rank: 0,
    num_running_reqs: running,
    num_waiting_reqs: waiting,
    num_used_tokens: used * pageTokens,
    max_total_num_tokens: pages.total * pageTokens,
    token_usage: used / pages.total,
    gen_throughput: metrics.rate.perSecond,
    cache_hit_rate: prefixCache.queries > 0 ? prefixCache.hits / prefixCache.queries : 0,
    utilization: running / maxSequences,
    max_running_requests: maxSequences,
  };
}

function moreOf(
  wanted: ReadonlySet<Section>,
  { pages, waiting, graphs, scheduling }: EngineStats,
  { info }: ServerContext,
): Record<string, unknown> {
  const has = (section: Section): boolean => wanted.has(section) || wanted.has('all');
  const { model, engine } = (info?.report ?? {}) as {
    readonly model?: { readonly weights?: { readonly deviceBytes?: number } };
    readonly engine?: { readonly cache?: { readonly bytes?: number } };
  };
  const memory = {
    weight_gb: (model?.weights?.deviceBytes ?? 0) / gb,
    kv_cache_gb: (engine?.cache?.bytes ?? 0) / gb,
    graph_gb: graphs.workspaceBytes / gb,
    token_capacity: pages.total * (info?.pageTokens ?? 0),
  };
  // Nothing here waits for a grammar once it is queued, or is paused.
  const queues = { waiting, grammar: 0, paused: 0, retracted: scheduling.preempted };
  return { ...(has('memory') ? { memory } : {}), ...(has('queues') ? { queues } : {}) };
}
