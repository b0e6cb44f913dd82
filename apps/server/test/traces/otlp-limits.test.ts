import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestContent } from '../../src/log/request-content.js';
import { otlpTraces, type TraceOptions } from '../../src/traces/otlp-traces.js';
import type { RequestFacts } from '../../src/traces/request-facts.js';
import { type Collector, fieldsOf, spansIn, startCollector } from './collector.js';

/** A request that took ten seconds, half of them for its prompt. */
const facts: RequestFacts = {
  id: 'one',
  model: 'm3',
  startedMs: 1_700_000_000_000,
  preparedMs: 10,
  timing: {
    ...{ queueMs: 20, prefillMs: 5000, ttftMs: 5020, decodeMs: 4980, totalMs: 10_000 },
    ...{ tokensPerSecond: 1, meanItlMs: 1000 },
  },
  pieces: [],
  summary: { outcome: 'stop', promptTokens: 1, generatedTokens: 6 } as RequestFacts['summary'],
  asked: {},
  content: undefined,
  traceparent: undefined,
  tracestate: undefined,
};

describe('traces of requests', () => {
  let collector: Collector;
  beforeEach(async () => {
    collector = await startCollector();
  });
  afterEach(() => collector.close());

  const tracesWith = (withContent: boolean, more: Partial<TraceOptions> = {}) =>
    otlpTraces(collector.url, {
      ...{ logger: pino({ level: 'silent' }), serviceName: 'altstream', withContent },
      ...{ queueSize: 2048, onLost: () => undefined, ...more },
    });

  it('have all of 1024 pieces of a prompt, in their order', async () => {
    const traces = tracesWith(false);
    const pieces = Array.from({ length: 1024 }, (_, at) => ({ ms: 20 + at, tokens: at + 1 }));
    traces.add({ ...facts, pieces });
    await traces.close(60_000);
    const spans = collector.bodies.flatMap(({ body }) => spansIn(body));
    const events = spans.find(({ name }) => name === 'prefill')?.events ?? [];
    expect(events.map(({ attributes }) => fieldsOf(attributes)['tokens'])).toEqual(
      pieces.map(({ tokens }) => tokens),
    );
  });

  it('are sent in small parts if they have texts, and none is lost', async () => {
    const traces = tracesWith(true);
    const answer = { reasoning: '', content: 'y'.repeat(65_536), calls: [] };
    const content: RequestContent = {
      ...{ prompts: ['x'.repeat(65_536)], answers: [answer], isCut: true },
    };
    const ids = Array.from({ length: 50 }, (_, at) => `request-${at}`);
    for (const id of ids) traces.add({ ...facts, id, content: () => content });
    await traces.close(60_000);
    const sent = collector.bodies.map(({ body }) => spansIn(body));
    expect(Math.max(...sent.map((spans) => spans.length))).toBeLessThanOrEqual(16);
    const roots = sent.flat().filter(({ name }) => name === 'llm_request');
    const fields = roots.map(({ attributes }) => fieldsOf(attributes));
    expect(fields.map((field) => field['gen_ai.request.id']).sort()).toEqual(ids.sort());
    expect(fields[0]).toMatchObject({
      'gen_ai.prompt': { values: [{ stringValue: content.prompts[0] }] },
      'gen_ai.completion': { values: [{ stringValue: JSON.stringify(answer) }] },
      'altstream.content.is_cut': true,
    });
  });

  it('that find no room in the queue are counted and told, and all others are sent', async () => {
    const log: { spans: number; msg: string }[] = [];
    const logger = pino({}, { write: (line) => log.push(JSON.parse(line)) });
    let lost = 0;
    const onLost: TraceOptions['onLost'] = (cause, spans) => {
      expect(cause).toBe('queue_full');
      lost += spans;
    };
    const traces = tracesWith(false, { logger, queueSize: 10, onLost });
    // Nothing is sent while this runs, so the queue holds what fits.
    for (let n = 0; n < 100; n++) traces.add({ ...facts, id: `request-${n}` });
    await traces.close(60_000);
    const sent = collector.bodies.flatMap(({ body }) => spansIn(body)).length;
    // A request has its own span and four parts.
    expect([lost > 0, sent + lost]).toEqual([true, 500]);
    expect(log.map(({ spans }) => spans)).toEqual([1, lost - 1]);
    expect(log[0]?.msg).toMatch(/^traces were given up/);
  });

  it('make no texts where the client records nothing', async () => {
    const traces = tracesWith(true);
    const made: string[] = [];
    const ask = (id: string, flags: string): void => {
      const content = (): RequestContent => {
        made.push(id);
        return { prompts: [], answers: [], isCut: false };
      };
      const traceparent = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`;
      traces.add({ ...facts, id, content, traceparent });
    };
    ask('left out', '00');
    ask('recorded', '01');
    await traces.close(60_000);
    expect(made).toEqual(['recorded']);
    const spans = collector.bodies.flatMap(({ body }) => spansIn(body));
    expect(spans.filter(({ name }) => name === 'llm_request')).toHaveLength(1);
  });
});
