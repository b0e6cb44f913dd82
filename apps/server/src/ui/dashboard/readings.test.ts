import { describe, expect, it } from 'vitest';
import { ServerMetrics } from '../../metrics/server-metrics.js';
import { bucketsOf, quantile } from './histogram.js';
import { parseMetrics, total } from './metrics-text.js';
import { graphShare, readingsOf } from './readings.js';

const look = (atMs: number, text: string) => ({ atMs, samples: parseMetrics(text) });

describe('parseMetrics', () => {
  it('reads labels with escapes, infinities and comments', () => {
    const text = '# HELP a b\na{x="1\\"\\\\\\n",le="+Inf"} 3\nb 1e3\nc -Inf 17\n\nnonsense line';
    expect(parseMetrics(text)).toEqual([
      { name: 'a', labels: { x: '1"\\\n', le: '+Inf' }, value: 3 },
      { name: 'b', labels: {}, value: 1000 },
      { name: 'c', labels: {}, value: Number.NEGATIVE_INFINITY },
    ]);
  });

  it('reads what the server writes', async () => {
    const metrics = new ServerMetrics('name with "quotes"');
    const samples = parseMetrics(await metrics.exposition());
    expect(total(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    const none = bucketsOf(samples, 'vllm:time_to_first_token_seconds');
    expect([none.size, quantile(new Map(), none, 0.5)]).toEqual([23, undefined]);
    metrics.countHttp('/x', 'GET', 200, 0.02);
    const counted = parseMetrics(await metrics.exposition());
    const buckets = bucketsOf(counted, 'http_request_duration_seconds');
    expect(buckets.get(Number.POSITIVE_INFINITY)).toBe(1);
    const half = quantile(new Map(), buckets, 0.5) ?? 0;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(0.1);
  });
});

describe('quantile', () => {
  const before = new Map([
    [1, 5],
    [2, 5],
    [Number.POSITIVE_INFINITY, 5],
  ]);

  it('is linear within a bucket, and knows nothing of what came before', () => {
    const now = new Map([
      [1, 5],
      [2, 15],
      [Number.POSITIVE_INFINITY, 15],
    ]);
    expect(quantile(before, now, 0.5)).toBe(1.5);
    expect(quantile(before, before, 0.5)).toBeUndefined();
    expect(quantile(new Map(), new Map(), 0.5)).toBeUndefined();
  });

  it('is the last bound beyond it', () => {
    const now = new Map([...before, [Number.POSITIVE_INFINITY, 9]]);
    expect(quantile(before, now, 0.95)).toBe(2);
  });
});

describe('readingsOf', () => {
  const at = (tokens: number, seen = 0): string =>
    `vllm:generation_tokens_total{engine="0"} ${tokens}\nvllm:num_requests_running 2\n` +
    `vllm:time_to_first_token_seconds_bucket{le="1"} ${seen}\n` +
    `vllm:time_to_first_token_seconds_bucket{le="+Inf"} ${seen}`;

  it('takes rates from the last two looks', () => {
    const readings = readingsOf([look(0, at(0)), look(1000, at(50)), look(3000, at(150, 2))]);
    expect(readings).toMatchObject({ generatedPerSecond: 50, running: 2 });
    expect(readings.ttft).toEqual({ p50: 0.5, p99: 0.99 });
    expect(readings.waiting).toBeUndefined();
    expect(readings.promptPerSecond).toBeUndefined();
  });

  it('counts from zero when the server was started anew', () => {
    const readings = readingsOf([look(0, at(900, 7)), look(1000, at(30, 2))]);
    expect(readings.generatedPerSecond).toBe(30);
    expect(readings.ttft.p50).toBe(0.5);
  });

  it('takes what the server counts by its labels, and nothing that it does not', async () => {
    const metrics = new ServerMetrics('m3');
    metrics.requests.reject('queue_full');
    metrics.requests.abort('operator');
    metrics.start.enter('weights');
    const experts = 'altstream_expert_tokens_max_over_mean';
    const text = `${experts}{layers="mean"} 1.5\n${experts}{layers="worst"} 4\n`;
    const readings = readingsOf([look(0, text + (await metrics.exposition()))]);
    expect(readings.rejections.get('queue_full')).toBe(1);
    expect(readings.rejections.get('timeout')).toBe(0);
    expect(readings.aborts.get('operator')).toBe(1);
    expect(Object.fromEntries(readings.experts)).toEqual({ mean: 1.5, worst: 4 });
    const without = readingsOf([look(0, 'a 1')]);
    expect([without.experts.size, without.rejections.size, without.start.size]).toEqual([0, 0, 0]);
  });

  it('tells steps with a graph from steps without', () => {
    const name = 'altstream_cuda_graph_replays_total';
    const { replays } = readingsOf([look(0, `${name}{bucket="1"} 30\n${name}{bucket="eager"} 10`)]);
    expect(graphShare(replays)).toBe(0.75);
    expect(graphShare(new Map())).toBeUndefined();
  });
});
