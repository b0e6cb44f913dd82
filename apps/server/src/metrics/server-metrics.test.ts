import { describe, expect, it } from 'vitest';
import { idleStats } from '../../test/metrics/idle-stats.js';
import { ServerMetrics } from './server-metrics.js';

const token = { type: 'token', id: 1, logprob: 0, top: [] } as const;
const step = { index: 0, deltas: [], tokens: [token] };
const finished = (promptTokens: number, completionTokens: number) => ({
  ...step,
  finish: {
    reason: 'length' as const,
    stop: null,
    counts: { promptTokens, cachedTokens: 0, completionTokens, reasoningTokens: 0 },
  },
});
const stats = (promptTokens: number, generatedTokens: number) => ({
  ...idleStats,
  waiting: 1,
  waitingTokens: 5,
  device: { experts: { mean: 1.5, worst: 4 }, bytes: 1000 },
  outputBacklogSteps: 6,
  thread: { lagSeconds: 0.25, gcSeconds: 2 },
  running: 2,
  pages: { total: 10, free: 3, evictable: 2, pinned: 5, reserved: 7 },
  prefixCache: { queries: 2 * promptTokens, hits: promptTokens },
  ledgerErrors: 1,
  scheduling: { ...idleStats.scheduling, preemptions: 3 },
  steps: 3,
  promptTokens,
  generatedTokens,
  graphs: {
    ...idleStats.graphs,
    buckets: [{ rows: 4, launches: 9, captureMs: 250, captureBytes: 70 }],
    eagerSteps: 1,
    fedSteps: 7,
  },
  lookAhead: { ...idleStats.lookAhead, isEnabled: true, aheadSteps: 2 },
});

describe('metrics', () => {
  it('sums a request over its choices, each prompt once', () => {
    const watch = new ServerMetrics('m').watchRequest();
    watch.step(step, true);
    watch.step(finished(5, 2), true);
    watch.step(finished(5, 3), false);
    watch.step(finished(7, 4), true);
    expect(watch.end()).toMatchObject({
      outcome: 'length',
      promptTokens: 12,
      generatedTokens: 9,
      ttftMs: expect.any(Number),
    });
  });

  it('says how a request ended that did not finish', () => {
    const metrics = new ServerMetrics('m');
    expect(metrics.watchRequest().end()).toMatchObject({ outcome: 'abort', ttftMs: null });
    const failed = metrics.watchRequest();
    failed.fail('overloaded');
    expect(failed.end()).toMatchObject({ outcome: 'error', code: 'overloaded' });
  });

  it('takes over the engine’s counters without counting anything twice', async () => {
    const metrics = new ServerMetrics('m');
    metrics.setEngine(stats(10, 4));
    metrics.setEngine(stats(10, 4));
    metrics.setEngine(stats(15, 6));
    const text = await metrics.exposition();
    expect(text).toMatch(/vllm:prompt_tokens_total\{[^}]*\} 30\n/);
    expect(text).toMatch(/vllm:prefix_cache_queries_total\{[^}]*\} 30\n/);
    expect(text).toMatch(/vllm:prefix_cache_hits_total\{[^}]*\} 15\n/);
    expect(text).toMatch(/altstream_kv_ledger_errors_total 1\n/);
    expect(text).toMatch(/altstream_kv_pages\{state="evictable"\} 2\n/);
    expect(text).toMatch(/vllm:generation_tokens_total\{[^}]*\} 6\n/);
    expect(text).toMatch(/vllm:num_preemptions_total\{[^}]*\} 3\n/);
    expect(text).toMatch(/vllm:kv_cache_usage_perc\{[^}]*\} 0\.5\n/);
    expect(text).toMatch(/altstream_gpu_memory_bytes\{kind="other"\} 1000\n/);
    expect(text).toMatch(/altstream_expert_tokens_max_over_mean\{layers="mean"\} 1\.5\n/);
    expect(text).toMatch(/altstream_expert_tokens_max_over_mean\{layers="worst"\} 4\n/);
    expect(text).toMatch(/altstream_cuda_graph_replays_total\{bucket="4"\} 9\n/);
  });

  it('tells the CUDA that was found, and the memory that no kind explains', async () => {
    const metrics = new ServerMetrics('m');
    const facts = { vocabSize: 9, maxModelLength: 9, modelMaxLength: 9, pageTokens: 1, pages: 1 };
    metrics.setInfo({
      ...{ ...facts, maxSequences: 1, maxWaiting: 1, maxTenantRequests: 2 },
      report: {
        device: { asked: 'auto', taken: 'cuda', sm: '9.0' },
        runtime: { details: { runtimeVersion: 13_020 } },
        model: { weights: { deviceBytes: 600 } },
        engine: {
          ...{ cache: { bytes: 200 }, prefillWorkspaceBytes: 50 },
          decode: stats(1, 1).graphs,
        },
      },
    });
    metrics.setEngine(stats(1, 1));
    const text = await metrics.exposition();
    const build = text.match(/^altstream_build_info\{.*/gm);
    expect(build).toEqual([expect.stringMatching(/cuda="13\.2",arch="sm_90"\} 1$/)]);
    expect(text).toMatch(/^altstream_cuda_graph_capture_seconds\{bucket="4"\} 0\.25$/m);
    expect(text).toMatch(/^altstream_cuda_graph_capture_bytes\{bucket="4"\} 70$/m);
    const memory = [...text.matchAll(/^altstream_gpu_memory_bytes\{kind="(\w+)"\} (\d+)$/gm)];
    expect(Object.fromEntries(memory.map(([, kind, bytes]) => [kind, Number(bytes)]))).toEqual({
      weights: 600,
      kv: 200,
      workspace: 50,
      graphs: 0,
      other: 150,
    });
  });
});
