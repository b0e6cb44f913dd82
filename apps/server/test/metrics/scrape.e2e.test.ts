import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoIsLeftOut, leftOutBecause } from '../makers/demo-model.js';
import { type Serving, startServing } from '../makers/serving.js';
import { type Family, readExposition } from './exposition.js';
import { expressionsOf, readSelectors } from './expressions.js';

const serverManifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

const e2e = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960];
const times = [...e2e, 1920, 7680];
const itl = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const gaps = [...itl, 20, 40, 80];
const ttft = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
  160, 640, 2560,
];
const lengths = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];
const steps = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/** vLLM's histograms, and how often the workload below shows in each; undefined = at least once. */
const histograms: readonly [name: string, buckets: readonly number[], count?: number][] = [
  ['request_prompt_tokens', lengths, 3],
  ['request_generation_tokens', lengths, 3],
  ['request_max_num_generation_tokens', lengths, 3],
  ['request_params_n', [1, 2, 5, 10, 20], 3],
  ['request_params_max_tokens', lengths, 3],
  ['iteration_tokens_total', steps],
  ['time_to_first_token_seconds', ttft, 3],
  ['inter_token_latency_seconds', gaps, 24],
  ['time_per_output_token_seconds', gaps, 24],
  ['request_time_per_output_token_seconds', gaps, 3],
  ['e2e_request_latency_seconds', times, 3],
  ['request_queue_time_seconds', times, 3],
  ['request_inference_time_seconds', times, 3],
  ['request_prefill_time_seconds', times, 3],
  ['request_decode_time_seconds', times, 3],
];

const values: readonly [name: string, type: string, value: number, labels?: object][] = [
  ['num_requests_running', 'gauge', 0],
  ['num_requests_waiting', 'gauge', 0],
  ['num_requests_waiting_by_reason', 'gauge', 0, { reason: 'capacity' }],
  ['num_requests_waiting_by_reason', 'gauge', 0, { reason: 'deferred' }],
  ['kv_cache_usage_perc', 'gauge', 0],
  ['num_preemptions_total', 'counter', 0],
  ['prompt_tokens_total', 'counter', 40],
  ['generation_tokens_total', 'counter', 28],
  ['request_success_total', 'counter', 4, { finished_reason: 'length' }],
  ['request_success_total', 'counter', 0, { finished_reason: 'stop' }],
  ['request_success_total', 'counter', 0, { finished_reason: 'abort' }],
  ['request_success_total', 'counter', 0, { finished_reason: 'error' }],
  ['admission_rejections_total', 'counter', 0, { reason: 'queue_tokens' }],
  ['admission_rejections_total', 'counter', 0, { reason: 'queue_full' }],
  ['admission_rejections_total', 'counter', 0, { reason: 'timeout' }],
  ['admission_rejections_total', 'counter', 0, { reason: 'draining' }],
];

const sglangBuckets: Readonly<Record<string, readonly number[]>> = {
  time_to_first_token_seconds: [
    0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400,
  ],
};

/** sglang's names, and what they show after the same workload. */
const aliases: readonly [name: string, type: string, value: unknown, labels?: object][] = [
  ['num_running_reqs', 'gauge', 0],
  ['num_queue_reqs', 'gauge', 0],
  ['num_used_tokens', 'gauge', 0],
  ['token_usage', 'gauge', 0],
  ['gen_throughput', 'gauge', expect.any(Number)],
  ['cache_hit_rate', 'gauge', expect.any(Number)],
  ['max_total_num_tokens', 'gauge', 2048],
  ['num_retracted_requests_total', 'counter', 0],
  ['queue_time_seconds', 'histogram', 3],
  ['prompt_tokens_total', 'counter', 40],
  ['generation_tokens_total', 'counter', 28],
  ['cached_tokens_total', 'counter', 9],
  ['num_requests_total', 'counter', 3],
  ['num_aborted_requests_total', 'counter', 0],
  ['time_to_first_token_seconds', 'histogram', 3],
  ['inter_token_latency_seconds', 'histogram', 24],
  ['e2e_request_latency_seconds', 'histogram', 3],
  ['cache_config_info', 'gauge', 1, { page_size: '16', num_pages: '128' }],
];

const boards = ['grafana/altstream.json', 'grafana/vllm-names.json', 'prometheus/alerts.yaml'];

/** What has no sample as long as nothing is wrong, was loaded, or was looked at. */
const labelsWithoutSamples: Readonly<Record<string, readonly string[]>> = {
  altstream_output_faults_total: ['fault'],
  altstream_startup_seconds: ['phase'],
  altstream_expert_tokens_max_over_mean: ['layers'],
};

describe.skipIf(demoIsLeftOut)(`metrics of a known workload${leftOutBecause}`, () => {
  let server: Serving;
  let families: Map<string, Family>;

  const send = (body: object) =>
    fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'name "of" it', ignore_eos: true, max_tokens: 7, ...body }),
    });

  beforeAll(async () => {
    const mock = JSON.stringify({ maxPositions: 2048, decodeMs: 2 });
    server = await startServing(
      ...['--mock-engine', mock, '--served-model-name', 'name "of" it'],
      ...['--max-num-queued-tokens', '100', '--max-num-seqs', '1', '--metrics-alias', 'sglang'],
    );
    const prompt = Array.from({ length: 10 }, (_, id) => 50 + id);
    await (await send({ prompt })).text();
    await (await send({ prompt: prompt.map((id) => id + 20), stream: true })).text();
    await (await send({ prompt: prompt.map((id) => id + 40), n: 2 })).text();
    const answer = await fetch(`${server.url}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    families = readExposition(await answer.text());
  });
  afterAll(() => server?.stop());

  const labelled = { model_name: 'name "of" it', engine: '0' };

  it.each(values)('vllm:%s is a %s and %f', (name, type, value, labels = {}) => {
    const family = families.get(`vllm:${name}`);
    expect(family?.type).toBe(type);
    const wanted = { name: `vllm:${name}`, labels: { ...labelled, ...labels }, value };
    expect(family?.samples).toContainEqual(wanted);
  });

  it.each(histograms)('vllm:%s has its buckets and counts', (name, buckets, count) => {
    const family = families.get(`vllm:${name}`);
    expect(family?.type).toBe('histogram');
    const bounds = family?.samples.flatMap(({ labels: { le } }) => (le ? [le] : []));
    expect(bounds).toEqual([...buckets.map(String), '+Inf']);
    const total = family?.samples.find(({ name: full }) => full === `vllm:${name}_count`);
    expect(total?.labels).toEqual(labelled);
    if (count === undefined) expect(total?.value).toBeGreaterThan(7);
    else expect(total?.value).toBe(count);
  });

  it.each(aliases)('sglang has %s in both spellings', (name, type, expected, labels = {}) => {
    const [classic, board] = ['sglang:', 'sglang_'].map((prefix) => {
      const family = families.get(prefix + name);
      expect(family?.type).toBe(type);
      return family?.samples.map((one) => ({ ...one, name: one.name.replace(prefix, '') }));
    });
    expect(classic).toEqual(board);
    const count = type === 'histogram' ? `${name}_count` : name;
    const sample = classic?.find((one) => one.name === count);
    expect(sample?.labels).toEqual({ model_name: 'name "of" it', ...labels });
    expect(sample?.value).toEqual(expected);
    const bounds = classic?.flatMap(({ labels: { le } }) => (le ? [le] : []));
    const buckets = sglangBuckets[name];
    if (buckets) expect(bounds).toEqual([...buckets.map(String), '+Inf']);
  });

  it('facts are labels', () => {
    expect(families.get('vllm:cache_config_info')?.samples).toMatchObject([
      { labels: { ...labelled, block_size: '16', enable_prefix_caching: 'True' }, value: 1 },
    ]);
    expect(families.get('vllm:lora_requests_info')?.samples).toMatchObject([
      { labels: { max_lora: '0', running_lora_adapters: '', waiting_lora_adapters: '' } },
    ]);
    const { version } = serverManifest;
    expect(families.get('altstream_build_info')?.samples).toMatchObject([
      { labels: { version, cuda: '', arch: process.arch }, value: 1 },
    ]);
    const kinds = families.get('altstream_gpu_memory_bytes')?.samples.map(({ labels }) => labels);
    expect(kinds).toEqual(
      ['weights', 'kv', 'workspace', 'graphs', 'other'].map((kind) => ({ kind })),
    );
  });

  it('a refusal for too many waiting tokens is counted, and tells when to come back', async () => {
    const long = new Array(90).fill(60);
    const refused = await send({ prompt: [long, long, long] });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'overloaded',
        message: expect.stringMatching(/prompt tokens of 1 requests wait/),
      },
    });
    expect(Number(refused.headers.get('retry-after-ms'))).toBeGreaterThanOrEqual(800);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const samples = readExposition(text).get('vllm:admission_rejections_total')?.samples;
    const counted = samples?.find(({ labels }) => labels['reason'] === 'queue_tokens');
    expect(counted?.value).toBe(1);
  });

  it.each(boards)('everything that %s asks for is here, under labels that it has', (file) => {
    const asked = [...expressionsOf(file)].flatMap(readSelectors);
    expect(asked.length).toBeGreaterThan(5);
    for (const { name, labels } of asked) {
      const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
      expect([name, family?.type]).toEqual([name, expect.any(String)]);
      const known = new Set([
        ...(labelsWithoutSamples[name] ?? []),
        ...(family?.samples.flatMap((sample) => Object.keys(sample.labels)) ?? []),
        // Prometheus adds these.
        ...['instance', 'job'],
      ]);
      expect([name, labels.filter((label) => !known.has(label))]).toEqual([name, []]);
    }
  });

  it('ours are there', () => {
    for (const name of [
      ...['kv_pages', 'kv_ledger_errors_total', 'cuda_graph_replays_total', 'aborts_total'],
      ...['cuda_graph_pad_rows_total', 'step_duration_seconds', 'schedule_seconds'],
      ...['output_backlog_steps', 'event_loop_lag_seconds', 'gc_pause_seconds_total'],
      ...['gpu_memory_bytes', 'startup_seconds', 'engine_heartbeat_age_seconds'],
      ...['template_seconds', 'tokenize_seconds', 'grammar_compile_seconds'],
      ...['text_worker_jobs_total', 'text_worker_seconds_total', 'text_worker_lost_total'],
      ...['tenant_kv_usage_max_perc', 'tenants_at_kv_share', 'tenant_share_preemptions_total'],
      ...['text_jobs_waiting', 'text_jobs_running'],
      ...['grammar_cache_hits_total', 'grammar_cache_misses_total'],
      ...['connections_refused_total', 'output_faults_total', 'server_ignored_fields_total'],
      ...['late_events_total', 'expert_tokens_max_over_mean', 'build_info'],
    ]) {
      expect([name, families.get(`altstream_${name}`)?.help]).toEqual([name, expect.any(String)]);
    }
    const sum = families
      .get('vllm:iteration_tokens_total')
      ?.samples.find(({ name }) => name.endsWith('_sum'))?.value;
    const found = families.get('vllm:prefix_cache_hits_total')?.samples[0]?.value ?? Number.NaN;
    // Every prompt token that was not found, and every token after the first of each of four
    // choices.
    expect(sum).toBe(40 - found + 4 * 6);
  });
});
