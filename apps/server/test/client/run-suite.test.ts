import { afterEach, describe, expect, it } from 'vitest';
import { evalReport, evalText } from '../../src/eval/eval-report.js';
import { runSuite } from '../../src/eval/run-suite.js';
import { missedThresholds, parseThresholds } from '../../src/eval/thresholds.js';
import {
  type OpenAiStub,
  type StubReply,
  type StubRequest,
  startStub,
} from '../makers/openai-stub.js';
import { suitePromptOf } from '../makers/suite-file.js';

const question = (request: StubRequest): string => request.messages[0]?.content ?? '';
const options = { model: 'stub', concurrency: 2, timeoutMs: 2000 };
const numbered = (count: number) => Array.from({ length: count }, (_, i) => suitePromptOf(`p${i}`));

describe('running a suite', () => {
  let stub: OpenAiStub | undefined;
  afterEach(() => stub?.close());
  const answering = async (answer: (request: StubRequest) => StubReply) => {
    stub = await startStub(answer);
    return stub;
  };

  it('asks greedily, in the prompt’s mode, with its tools, and every fourth both ways', async () => {
    const { address, requests } = await answering((request) => ({ content: question(request) }));
    const prompts = numbered(6);
    const run = await runSuite(address, prompts, { ...options, concurrency: 1 });
    expect(run.results.map(({ isRight }) => isRight)).toEqual(prompts.map(() => true));
    expect(requests.map((request) => [question(request), request.stream])).toEqual([
      ['p0', false],
      ['p0', true],
      ['p1', false],
      ['p2', false],
      ['p3', false],
      ['p4', false],
      ['p4', true],
      ['p5', false],
    ]);
    expect(requests[0]).toEqual({
      model: 'stub',
      messages: [{ role: 'user', content: 'p0' }],
      max_tokens: 8,
      temperature: 0,
      chat_template_kwargs: { thinking_mode: 'disabled' },
      stream: false,
    });
  });

  it('checks a tool call, whole and streamed, and sends the tools', async () => {
    const { address, requests } = await answering(() => ({
      calls: [{ name: 'add', arguments: '{"a":1}' }],
    }));
    const tools = [{ type: 'function' as const, function: { name: 'add' } }];
    const check = { type: 'tool_call' as const, name: 'add', arguments: { a: 1 } };
    const prompts = [
      suitePromptOf('right', { tools, check }),
      suitePromptOf('wrong', { tools, check: { ...check, arguments: { a: 2 } } }),
    ];
    const { results } = await runSuite(address, prompts, options);
    expect(results.map(({ isRight }) => isRight)).toEqual([true, false]);
    expect(results[0]?.streamAgrees).toBe(true);
    expect(requests[0]?.['tools']).toEqual(tools);
  });

  it('finds an answer that is right as a whole and wrong when streamed', async () => {
    const { address } = await answering(({ stream }) => ({ content: stream ? 'p' : 'p0' }));
    const run = await runSuite(address, numbered(1), options);
    expect(run.results[0]).toMatchObject({ isRight: false, streamAgrees: false });
    expect(run.results[0]?.reason).toMatch(/right as a whole, wrong when streamed: expected "p0"/);
    const report = evalReport({ ...options, suite: 's', server: 'u', prompts: 1 }, run);
    expect(evalText({ report, run })).toMatch(/1 of them also streamed, 1 with another answer: p0/);
  });

  it('has one row a skill, counts tokens where the server does, and lists what is wrong', async () => {
    const { address } = await answering((request) => ({
      content: question(request) === 'p1' ? 'no' : question(request),
      tokens: question(request) === 'x' ? null : 10,
    }));
    const prompts = [...numbered(3), suitePromptOf('x', { skill: 'other' })];
    const run = await runSuite(address, prompts, options);
    const report = evalReport({ ...options, suite: 's', server: 'u', prompts: 4 }, run);
    expect(report.skills).toMatchObject([
      { skill: 'sums', prompts: 3, right: 2, failed: 0, meanTokens: 10 },
      { skill: 'other', prompts: 1, right: 1, meanTokens: null, tokensPerSecond: null },
    ]);
    expect(report.total).toMatchObject({ prompts: 4, right: 3, accuracy: 0.75 });
    const text = evalText({ report, run });
    expect(text).toMatch(/skill {2}prompts {2}right {2}accuracy {2}mean tokens {2}tokens\/s/);
    expect(text).toMatch(/sums {9}3 {6}2 {4}66\.7 % {9}10\.0/);
    expect(text).toMatch(/p1: expected "p1", received "no"/);
  });

  it('waits for a busy server, and not for a dead one', async () => {
    let refusals = 2;
    const { address, requests } = await answering(() =>
      refusals-- > 0 ? { status: 503, headers: { 'retry-after-ms': '10' } } : { content: 'p0' },
    );
    const run = await runSuite(address, numbered(1), options);
    expect([run.results[0]?.isRight, requests.length]).toEqual([true, 4]);
    await stub?.close();
    const dead = await answering(() => ({ status: 503, message: 'engine_dead' }));
    const lost = await runSuite(dead.address, numbered(1), options);
    expect(lost.results[0]?.reason).toMatch(/503: engine_dead/);
    expect(dead.requests).toHaveLength(1);
  });

  it('goes on after a prompt without an answer, and gives up after five in a row', async () => {
    const { address } = await answering((request) =>
      question(request) === 'p0' ? { after: 'silence' } : { status: 500, message: 'broken' },
    );
    const short = { ...options, concurrency: 1, timeoutMs: 100 };
    const run = await runSuite(address, numbered(9), short);
    expect(run.ended).toBe('gave-up');
    expect(run.results).toHaveLength(5);
    expect(run.results[0]?.reason).toMatch(/no complete answer within 0\.1 s/);
    expect(run.results[1]?.reason).toMatch(/500: broken/);
    const report = evalReport({ ...short, suite: 's', server: 'u', prompts: 9 }, run);
    expect(report.total).toMatchObject({ prompts: 5, failed: 5, right: 0 });
    expect(evalText({ report, run })).toMatch(/5 prompts in a row.*4 of 9 prompts were not asked/);
  });

  it('gives up when the server goes away', async () => {
    const own = await startStub((request) => {
      if (question(request) === 'p1') setImmediate(() => void own.close());
      return { content: question(request) };
    });
    const run = await runSuite(own.address, numbered(20), { ...options, concurrency: 1 });
    expect(run.ended).toBe('gave-up');
    expect(run.results[0]?.isRight).toBe(true);
    expect(run.results.at(-1)?.reason).toMatch(/no server answers at/);
  });

  it('goes on after any number of prompts that the server refuses', async () => {
    const { address } = await answering(() => ({ status: 400, message: 'too long' }));
    const run = await runSuite(address, numbered(9), options);
    expect([run.ended, run.results.length]).toEqual([undefined, 9]);
    expect(run.results[8]).toMatchObject({ isRight: false, failure: { status: 400 } });
    const report = evalReport({ ...options, suite: 's', server: 'u', prompts: 9 }, run);
    expect(evalText({ report, run })).toMatch(/9 prompts had no answer[\s\S]*p0: .*400: too long/);
  });

  it('stops when it is told to, with what it has', async () => {
    const controller = new AbortController();
    const { address } = await answering((request) => {
      if (question(request) === 'p2') controller.abort();
      return { content: question(request) };
    });
    const { signal } = controller;
    const run = await runSuite(address, numbered(9), { ...options, concurrency: 1, signal });
    expect([run.ended, run.results.length]).toEqual(['stopped', 2]);
  });

  it('holds accuracies against thresholds', () => {
    const facts = { prompts: 4, right: 3, failed: 0, meanTokens: null, tokensPerSecond: null };
    const row = { ...facts, skill: 'a', accuracy: 0.75 };
    const missed = (...texts: string[]) =>
      missedThresholds(parseThresholds(texts, new Set(['a'])), [row], row);
    expect(missed('0.75', 'a=0.75')).toEqual([]);
    expect(missed('0.76', 'a=0.8')).toEqual([
      'all prompts together: accuracy 0.750, wanted at least 0.76',
      'a: accuracy 0.750, wanted at least 0.8',
    ]);
    for (const wrong of ['', 'x', '1.1', '-1', 'a=', 'a=b']) {
      expect(() => missed(wrong)).toThrow(/expected a number from 0 to 1/);
    }
    expect(() => missed('b=0.5')).toThrow(/the suite has a/);
  });
});
