import { describe, expect, it } from 'vitest';
import { benchReport, metricNames, type ReportOptions } from './bench-report.js';
import type { RequestRecord } from './bench-request.js';
import { benchText } from './bench-text.js';
import { latencyPlot } from './latency-plot.js';
import { deviationOf, percentileOf } from './statistics.js';

const options: ReportOptions = {
  percentiles: [50, 99.9],
  percentileMetrics: new Set(metricNames),
  goodput: new Map(),
  isDetailed: false,
};

/** Waited 50 ms, then chunks after 100, 200 and 400 ms with five tokens in all; ends at 410 ms. */
const first: RequestRecord = {
  arrivedAt: 950,
  sentAt: 1000,
  deltasAt: [1100, 1200, 1400],
  endedAt: 1410,
  inputTokens: 10,
  outputTokens: 5,
};
/** One token, after 300 ms. */
const second: RequestRecord = {
  arrivedAt: 2700,
  sentAt: 2700,
  deltasAt: [3000],
  endedAt: 3000,
  inputTokens: 20,
  outputTokens: 1,
};
const failed: RequestRecord = { ...second, deltasAt: [], error: 'status 500: no' };

describe('the report of a bench', () => {
  it('has the definitions of vLLM and sglang', () => {
    const report = benchReport([first, second], options);
    expect(report).toMatchObject({
      duration: 2,
      completed: 2,
      failed: 0,
      errors: {},
      total_input_tokens: 30,
      total_output_tokens: 6,
      request_throughput: 1,
      input_throughput: 15,
      output_throughput: 3,
      total_token_throughput: 18,
      concurrency: 0.35,
      max_concurrent_requests: 1,
      tokens_per_chunk: 1.5,
      request_goodput: null,
      mean_ttft_ms: 200,
      median_ttft_ms: 200,
      std_ttft_ms: 100,
      p50_ttft_ms: 200,
      mean_queued_ttft_ms: 225,
      // Of one token there is no time per output token.
      mean_tpot_ms: 75,
      mean_itl_ms: 150,
      max_itl_ms: 200,
      mean_e2el_ms: 350,
    });
    expect(report['p99.9_ttft_ms']).toBeCloseTo(299.8, 6);
    expect(report['max_output_tokens_per_s']).toBeCloseTo(5, 6);
    expect(report).not.toHaveProperty('total_output_tokens_retokenized');
  });

  it('counts as good what meets all goals', () => {
    const good = (goals: ['ttft' | 'tpot' | 'e2el', number][]) =>
      benchReport([first, second], { ...options, goodput: new Map(goals) })['request_goodput'];
    expect(good([['ttft', 300]])).toBe(1);
    expect(good([['ttft', 299]])).toBe(0.5);
    expect(good([['tpot', 74]])).toBe(0.5);
    expect(
      good([
        ['ttft', 100],
        ['e2el', 399],
      ]),
    ).toBe(0);
  });

  it('has no throughput when more than one of a hundred failed', () => {
    const hundred = Array.from({ length: 99 }, () => second);
    expect(benchReport([...hundred, failed], options)['request_throughput']).not.toBeNull();
    const report = benchReport([...hundred, failed, failed], options);
    expect(report).toMatchObject({ failed: 2, request_throughput: null, output_throughput: null });
    expect(report['errors']).toEqual({ 'status 500: no': 2 });
    expect(benchText(report)).toMatch(/Throughput is not shown: 2 of 101 requests failed/);
    expect(benchText(report)).toMatch(/2 × status 500: no/);
    expect(benchText(report)).not.toMatch(/tokens\/s/);
  });

  it('says that input is unknown when it is', () => {
    const { inputTokens: _, ...unknown } = first;
    const report = benchReport([unknown], options);
    expect(report).toMatchObject({ total_input_tokens: null, total_token_throughput: null });
  });

  it('keeps answers without a delta apart, and counts what was counted here', () => {
    const silent = { ...second, deltasAt: [], retokenized: 0 };
    const report = benchReport([{ ...first, retokenized: 6 }, silent], options);
    expect(report).toMatchObject({
      empty_answers: 1,
      completed: 2,
      mean_ttft_ms: 100,
      total_output_tokens: 6,
      total_output_tokens_retokenized: 6,
    });
  });

  it('lists every request if wanted, in seconds', () => {
    const report = benchReport([first, failed], { ...options, isDetailed: true });
    expect(report).toMatchObject({
      input_lens: [10, 20],
      ttfts: [0.1, null],
      itls: [[0.1, 0.2], []],
      start_times: [0, 1.7],
      request_errors: ['', 'status 500: no'],
    });
  });

  it('of nothing has no numbers, and can be printed', () => {
    const report = benchReport([], options);
    expect(report).toMatchObject({ completed: 0, request_throughput: null, mean_ttft_ms: null });
    expect(benchText(report)).toContain('Completed requests');
  });

  it('prints what was measured', () => {
    const text = benchText(benchReport([first, second], options));
    expect(text).toMatch(/^Output tokens\/s +3\.00$/m);
    expect(text).toMatch(/Time to first token -+\n {2}mean, ms +200\.00\n/);
  });
});

describe('statistics', () => {
  it('are numpy’s', () => {
    expect(percentileOf([1, 2, 3, 4], 50)).toBe(2.5);
    expect(percentileOf([1, 2, 3, 4], 90)).toBeCloseTo(3.7, 12);
    expect(percentileOf([5], 99)).toBe(5);
    expect(deviationOf([2, 4, 4, 4, 5, 5, 7, 9])).toBe(2);
  });
});

describe('the plot', () => {
  it('is one SVG with a curve for each metric that has values', () => {
    const series = [
      { name: 'TTFT', values: [10, 20, 30] },
      { name: 'ITL', values: [0, 5] },
      { name: 'TPOT', values: [] },
    ];
    const svg = latencyPlot(series, 'a < b & c');
    expect(svg.match(/<polyline /g)).toHaveLength(2);
    expect(svg).toContain('a &lt; b &amp; c');
    expect(svg).not.toMatch(/NaN|Infinity/);
    expect(latencyPlot([], 'nothing')).not.toMatch(/NaN|Infinity|polyline/);
  });
});
