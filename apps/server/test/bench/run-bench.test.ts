import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { BenchPrompt } from '../../src/bench/bench-prompt.js';
import { benchReport, metricNames } from '../../src/bench/bench-report.js';
import type { BenchTarget } from '../../src/bench/bench-request.js';
import { type BenchPlan, runBench } from '../../src/bench/run-bench.js';
import { startTimed, type TimedAnswer } from './makers/timed-server.js';

const usual: TimedAnswer = {
  firstMs: 60,
  gapMs: 40,
  pieces: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
  usage: { prompt_tokens: 7, completion_tokens: 6 },
};
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function started(
  answer: (request: number) => TimedAnswer,
  more: Partial<BenchTarget> = {},
  connections = 64,
) {
  const server = await startTimed(answer);
  const pool = new Pool(server.url, { connections, pipelining: 1 });
  cleanups.push(
    () => server.close(),
    () => pool.destroy(),
  );
  const target: BenchTarget = {
    pool,
    path: '/v1/completions',
    isChat: false,
    apiKey: 'k',
    model: 'timed',
    fields: { temperature: 0 },
    timeoutMs: 30_000,
    tokenizer: undefined,
    ...more,
  };
  return { server, target };
}

function planOf(target: BenchTarget, requests: number, more: Partial<BenchPlan> = {}): BenchPlan {
  return {
    target,
    prompts: Array.from({ length: requests }, () => ({ text: 'Hi', outputTokens: 6 })),
    arrivalsMs: Array.from({ length: requests }, () => 0),
    maxConcurrency: Infinity,
    warmups: 0,
    signal: new AbortController().signal,
    ...more,
  };
}

const whole = { percentiles: [50], percentileMetrics: new Set(metricNames), goodput: new Map() };
const reportOf = async (plan: BenchPlan) =>
  benchReport((await runBench(plan)).records, { ...whole, isDetailed: false }) as Record<
    string,
    number
  >;

describe('a bench', () => {
  it('sees the first piece, the gaps and the end as they come', async () => {
    const { server, target } = await started(() => usual);
    const report = await reportOf(planOf(target, 4));
    // The role comes at once and the first piece after 60 ms; a busy machine makes all of it later.
    const { mean_ttft_ms: first = 0, mean_itl_ms: gap = 0, mean_e2el_ms: last = 0 } = report;
    expect(first).toBeGreaterThanOrEqual(58);
    expect(last).toBeGreaterThanOrEqual(136);
    expect(first + 2 * gap).toBeCloseTo(last, 6);
    // Three pieces are six tokens.
    expect(report['mean_tpot_ms']).toBeCloseTo((gap * 2) / 5, 6);
    expect(report).toMatchObject({ completed: 4, total_output_tokens: 24, tokens_per_chunk: 2 });
    expect(report['total_input_tokens']).toBe(28);
    expect(server.bodies[0]).toEqual({
      model: 'timed',
      prompt: 'Hi',
      max_tokens: 6,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('counts thoughts and calls of a chat as pieces, and no role', async () => {
    const pieces = [
      { delta: { reasoning_content: 'a', reasoning: 'a' } },
      { delta: { content: 'b' } },
      { delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] } },
    ];
    const chat = { isChat: true, path: '/v1/chat/completions' };
    const { server, target } = await started(() => ({ ...usual, pieces }), chat);
    const { records } = await runBench(planOf(target, 1));
    expect(records[0]?.deltasAt).toHaveLength(3);
    expect(server.bodies[0]).toMatchObject({ messages: [{ role: 'user', content: 'Hi' }] });
  });

  it('keeps at most so many under way, and tells the wait apart', async () => {
    const { server, target } = await started(() => usual, {}, 2);
    const report = await reportOf(planOf(target, 4, { maxConcurrency: 2 }));
    expect(server.mostAtOnce).toBe(2);
    expect(report['max_concurrent_requests']).toBe(2);
    expect(server.sockets).toBeLessThanOrEqual(2);
    const waited = (report['mean_queued_ttft_ms'] ?? 0) - (report['mean_ttft_ms'] ?? 0);
    expect(waited).toBeGreaterThan(50);
  });

  it('sends when requests arrive, not before', async () => {
    const { target } = await started(() => usual);
    const { records } = await runBench(planOf(target, 2, { arrivalsMs: [0, 200] }));
    const [a, b] = records.map(({ sentAt }) => sentAt) as [number, number];
    expect(b - a).toBeGreaterThan(190);
  });

  it('does not count warm-ups', async () => {
    const { server, target } = await started(() => usual);
    expect((await reportOf(planOf(target, 1, { warmups: 2 })))['completed']).toBe(1);
    expect(server.bodies).toHaveLength(3);
    const broken = await started(() => ({ ...usual, status: 400 }));
    const plan = planOf(broken.target, 1, { warmups: 1 });
    await expect(runBench(plan)).rejects.toThrow(
      'the warm-up request failed: status 400: not today',
    );
  });

  it.each<[string, Partial<TimedAnswer>, Partial<BenchTarget>, RegExp]>([
    ['refused', { status: 503 }, {}, /^status 503: not today$/],
    ['cut off', { isCut: true }, {}, /^the answer was cut off$/],
    ['late', { firstMs: 3000 }, { timeoutMs: 100 }, /^no whole answer within 0.1 s$/],
    ['not counted', { usage: {} }, {}, /pass --tokenizer DIR/],
  ])('names why one was %s, and goes on', async (_, fault, more, reason) => {
    const answer = (request: number) => (request === 0 ? { ...usual, ...fault } : usual);
    const { target } = await started(answer, more);
    const plan = planOf(target, 2, { maxConcurrency: 1 });
    const { records } = await runBench(plan);
    expect(records[0]?.error).toMatch(reason);
    if (more.timeoutMs === undefined) expect(records[1]?.error).toBeUndefined();
  });

  it('counts tokens itself where the server does not', async () => {
    const tokenizer = { encode: (text: string) => [...text].map(() => 0), decode: () => '' };
    const { usage: _, ...uncounted } = usual;
    const { target } = await started(() => uncounted, { tokenizer });
    expect(await reportOf(planOf(target, 1))).toMatchObject({
      completed: 1,
      total_output_tokens: 3,
      total_output_tokens_retokenized: 3,
    });
  });

  it('stops with what it has', async () => {
    const { target, server } = await started((request) =>
      request === 0 ? usual : { ...usual, firstMs: 60_000 },
    );
    const stop = new AbortController();
    const onDone = (): void => stop.abort();
    const plan = planOf(target, 5, { signal: stop.signal, maxConcurrency: 2, onDone });
    const { records, isStopped } = await runBench(plan);
    expect(isStopped).toBe(true);
    expect(records.map(({ error }) => error)).toEqual([undefined]);
    expect(server.bodies.length).toBeLessThan(5);
  });

  it('sends what follows in a dialogue when the answer before is there, and keeps its place', async () => {
    const { server, target } = await started(() => ({ ...usual, firstMs: 1, gapMs: 1 }), {
      isChat: true,
    });
    const one = (name: string, next?: BenchPrompt): BenchPrompt => ({
      ...{ text: name, outputTokens: 6, chat: { messages: [name], tools: [] }, next },
    });
    const prompts = ['a', 'b'].map((name) => one(`${name}1`, one(`${name}2`, one(`${name}3`))));
    const plan = planOf(target, 2, { prompts, maxConcurrency: 1, warmups: 1 });
    const warmupPrompts = [{ text: 'warm', outputTokens: 1 }];
    let done = 0;
    const onDone = (): void => {
      done += 1;
    };
    const { records } = await runBench({ ...plan, warmupPrompts, onDone });
    expect(done).toBe(6);
    const sent = server.bodies.map(({ messages }) => (messages as unknown[])[0]);
    const warm = { role: 'user', content: 'warm' };
    expect(sent).toEqual([warm, 'a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    expect(records.map(({ turn }) => turn)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(server.mostAtOnce).toBe(1);
    for (const [index, { turn, arrivedAt }] of records.entries()) {
      if (turn !== 1) expect(arrivedAt).toBe(records[index - 1]?.endedAt);
    }
    const report = benchReport(records, { ...whole, isDetailed: false });
    expect(report['mean_ttft_ms_by_turn']).toEqual([0, 1, 2].map(() => expect.any(Number)));
  });

  it('ends a dialogue whose request failed', async () => {
    const answer = (request: number) =>
      request === 1 ? { ...usual, status: 500 } : { ...usual, firstMs: 1, gapMs: 1 };
    const { server, target } = await started(answer, { isChat: true });
    const chat = { messages: [], tools: [] };
    const last = { text: '', outputTokens: 1, chat };
    const prompts = [{ ...last, next: { ...last, next: last } }];
    const { records } = await runBench(planOf(target, 1, { prompts }));
    expect(records.map(({ error }) => error)).toEqual([undefined, 'status 500: not today']);
    expect(server.bodies).toHaveLength(2);
  });
});
