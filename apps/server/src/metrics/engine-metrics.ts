import type { DecodeGraphReport } from '@altstream/engine';
import type { EngineInfo, WorkerStats } from '../worker/messages.js';
import type { StepTimes } from '../worker/steps/step-log.js';
import { iterationBuckets, latencyBuckets } from './buckets.js';
import type { MetricMaker } from './metric-maker.js';

/** What metrics show of the engine's report. */
interface Report {
  readonly model?: {
    readonly activations?: string;
    readonly weights?: { readonly deviceBytes?: number };
  };
  readonly engine?: {
    readonly limits?: { readonly prefixCaching?: boolean };
    readonly cache?: { readonly bytes?: number };
    readonly decode?: { readonly buckets?: readonly DecodeGraphReport[] };
    readonly prefillWorkspaceBytes?: number;
  };
}

/** What the engine tells of itself: gauges and counters at each look, times with each step. */
export class EngineMetrics {
  readonly #gauges;
  readonly #totals;
  readonly #steps;
  readonly #memory;
  readonly #experts;
  readonly #replays;
  readonly #padding;
  readonly #captures;
  readonly #cacheConfig;
  readonly #launched = new Map<string, number>();
  /** Bytes of the kinds that do not change. */
  #knownBytes = 0;
  /** Rows of the decode graphs, the smallest first. */
  #graphRows: readonly number[] = [];

  constructor(vllm: MetricMaker, own: MetricMaker) {
    this.#gauges = {
      running: vllm.gauge('num_requests_running', 'Sequences that hold pages'),
      cache: vllm.gauge('kv_cache_usage_perc', 'Share of pages in use, 0 to 1'),
      pages: own.gauge('kv_pages', 'Pages of the KV cache by state', ['state']),
      largestTenant: own.gauge(
        'tenant_kv_usage_max_perc',
        'Share of pages of the tenant that holds most, 0 to 1',
      ),
      tenantsAtShare: own.gauge(
        'tenants_at_kv_share',
        'Tenants that wait as they have their share',
      ),
      backlog: own.gauge('output_backlog_steps', 'Steps whose tokens were not sent on yet'),
    };
    this.#totals = {
      queries: vllm.total('prefix_cache_queries_total', 'Prompt tokens looked up'),
      hits: vllm.total('prefix_cache_hits_total', 'Prompt tokens found'),
      prompt: vllm.total('prompt_tokens_total', 'Prompt tokens, computed or found'),
      generation: vllm.total('generation_tokens_total', 'Generated tokens'),
      preemptions: vllm.total('num_preemptions_total', 'Sequences that gave up their pages'),
      sharePreemptions: own.total(
        'tenant_share_preemptions_total',
        'Sequences that gave up their pages to others of their tenant, which had its share',
      ),
      ledger: own.total('kv_ledger_errors_total', 'Checks of the page ledger that failed'),
    };
    this.#steps = {
      tokens: vllm.histogram('iteration_tokens_total', 'Tokens of a step', iterationBuckets),
      seconds: own.histogram(
        'step_duration_seconds',
        'Time of a part of a step',
        latencyBuckets.short,
        ['kind'],
      ),
      schedule: own.histogram('schedule_seconds', 'Time to decide a step', latencyBuckets.short),
    };
    this.#memory = own.gauge('gpu_memory_bytes', 'Memory of the device by use', ['kind']);
    this.#experts = own.gauge(
      'expert_tokens_max_over_mean',
      'Tokens of the busiest expert by those of the mean one, of prompts looked at last',
      ['layers'],
    );
    this.#replays = own.counter('cuda_graph_replays_total', 'Launches of each decode graph', {
      bucket: ['eager'],
    });
    this.#padding = own.counter('cuda_graph_pad_rows_total', 'Rows of launches without a sequence');
    this.#captures = {
      seconds: own.gauge('cuda_graph_capture_seconds', 'Time to capture each decode graph', [
        'bucket',
      ]),
      bytes: own.gauge('cuda_graph_capture_bytes', 'Device memory that this took', ['bucket']),
    };
    const facts = ['block_size', 'num_gpu_blocks', 'cache_dtype', 'enable_prefix_caching'];
    this.#cacheConfig = vllm.gauge('cache_config_info', 'Always 1; labels tell the cache', facts);
  }

  /** What is settled when the engine is ready. */
  setInfo({ pageTokens, pages, report }: EngineInfo): void {
    const { model = {}, engine = {} } = report as Report;
    this.#cacheConfig.set(1, {
      block_size: String(pageTokens),
      num_gpu_blocks: String(pages),
      cache_dtype: model.activations ?? 'auto',
      // As Python writes it, since boards compare with that.
      enable_prefix_caching: engine.limits?.prefixCaching === false ? 'False' : 'True',
    });
    const graphs = engine.decode?.buckets ?? [];
    this.#graphRows = graphs.map(({ rows }) => rows);
    for (const { rows, captureMs, captureBytes } of graphs) {
      this.#captures.seconds.set(captureMs / 1000, { bucket: String(rows) });
      this.#captures.bytes.set(captureBytes, { bucket: String(rows) });
    }
    this.#memory.set(model.weights?.deviceBytes ?? 0, { kind: 'weights' });
    this.#memory.set(engine.cache?.bytes ?? 0, { kind: 'kv' });
    this.#memory.set(engine.prefillWorkspaceBytes ?? 0, { kind: 'workspace' });
    const { deviceBytes = 0 } = model.weights ?? {};
    this.#knownBytes = deviceBytes + (engine.cache?.bytes ?? 0);
    this.#knownBytes += engine.prefillWorkspaceBytes ?? 0;
  }

  /** Takes over the engine's gauges and counters. */
  setStats(stats: WorkerStats): void {
    const { pages, graphs, prefixCache } = stats;
    this.#gauges.running.set(stats.running);
    this.#gauges.backlog.set(stats.outputBacklogSteps);
    const used = pages.total - pages.free - pages.evictable;
    this.#gauges.cache.set(used / pages.total);
    for (const state of ['free', 'evictable', 'pinned', 'reserved'] as const) {
      this.#gauges.pages.set(pages[state], { state });
    }
    this.#memory.set(graphs.workspaceBytes, { kind: 'graphs' });
    const { experts, bytes } = stats.device;
    const other = (bytes ?? 0) - this.#knownBytes - graphs.workspaceBytes;
    this.#memory.set(Math.max(0, other), { kind: 'other' });
    if (experts) {
      this.#experts.set(experts.mean, { layers: 'mean' });
      this.#experts.set(experts.worst, { layers: 'worst' });
    }
    this.#totals.prompt.to(stats.promptTokens + prefixCache.hits);
    this.#totals.generation.to(stats.generatedTokens);
    this.#totals.queries.to(prefixCache.queries);
    this.#totals.hits.to(prefixCache.hits);
    this.#totals.ledger.to(stats.ledgerErrors);
    this.#setScheduling(stats);
    this.#setGraphs(graphs);
  }

  #setScheduling({ scheduling, pages }: WorkerStats): void {
    this.#totals.preemptions.to(scheduling.preemptions);
    this.#totals.sharePreemptions.to(scheduling.sharePreemptions);
    this.#gauges.largestTenant.set(scheduling.largestTenantPages / pages.total);
    this.#gauges.tenantsAtShare.set(scheduling.tenantsAtShare);
  }

  /** Takes what steps were. */
  addSteps({ planned, computed }: StepTimes): void {
    for (const { decodeRows, prefillTokens, scheduleMs } of planned) {
      this.#steps.tokens.observe(decodeRows + prefillTokens);
      this.#steps.schedule.observe(scheduleMs / 1000);
      if (decodeRows === 0) continue;
      const launched = this.#graphRows.find((rows) => rows >= decodeRows) ?? decodeRows;
      this.#padding.add(launched - decodeRows);
    }
    for (const { kind, ms } of computed) this.#steps.seconds.observe(ms / 1000, { kind });
  }

  #setGraphs({ buckets, eagerSteps }: WorkerStats['graphs']): void {
    const counted = [...buckets.map(({ rows, launches }) => [String(rows), launches] as const)];
    for (const [bucket, launches] of [...counted, ['eager', eagerSteps] as const]) {
      const was = this.#launched.get(bucket) ?? 0;
      this.#replays.add(Math.max(0, launches - was), { bucket });
      this.#launched.set(bucket, launches);
    }
  }
}
