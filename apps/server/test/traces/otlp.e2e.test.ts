import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContentRecorder } from '../../src/log/request-content.js';
import { otlpTraces } from '../../src/traces/otlp-traces.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { type Collector, fieldsOf, spansIn, startCollector, type WireSpan } from './collector.js';

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${trace}-b7ad6b7169203331-01`;

const named = { serviceName: 'altstream', queueSize: 2048, onLost: () => undefined };

describe('--otlp-traces-endpoint', () => {
  let server: ScriptedServer;
  let collector: Collector;

  beforeEach(async () => {
    collector = await startCollector();
    server = await startScripted();
  });
  afterEach(async () => {
    await server.close();
    collector.close();
  });

  async function ask(headers: Record<string, string>, more: object = {}): Promise<number> {
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        ...{ model: 'm3', messages: [{ role: 'user', content: 'canary' }], max_tokens: 5 },
        ...more,
      }),
    });
    await answer.text();
    return answer.status;
  }
  /** Spans of the requests that `send` makes, once all are there. */
  async function spansOf(
    send: () => Promise<unknown>,
    withContent = false,
  ): Promise<readonly WireSpan[]> {
    const traces = otlpTraces(collector.url, {
      logger: server.context.logger,
      ...named,
      withContent,
    });
    Object.assign(server.context, { traces });
    await send();
    await traces.close(10_000);
    return collector.bodies.flatMap(({ body }) => spansIn(body));
  }
  const fields = ({ attributes }: WireSpan): Record<string, unknown> => fieldsOf(attributes);

  it('sends a span of each request with its parts, below the client’s', async () => {
    const spans = await spansOf(() => ask({ traceparent: parent, 'x-request-id': 'one' }));
    expect(collector.bodies.map(({ path }) => path)).toEqual(['/v1/traces']);
    expect(collector.bodies[0]?.body).toContain(
      '"service.name","value":{"stringValue":"altstream"}',
    );
    expect(collector.bodies[0]?.body).not.toContain('canary');
    const root = spans.find(({ name }) => name === 'llm_request');
    expect(root).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331', kind: 2 });
    if (!root) return;
    expect(fields(root)).toMatchObject({
      'gen_ai.request.id': 'one',
      'gen_ai.request.model': 'm3',
      'gen_ai.request.max_tokens': 5,
      'gen_ai.request.temperature': 1,
      'gen_ai.request.n': 1,
      'gen_ai.usage.completion_tokens': 5,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.latency.e2e': expect.any(Number),
      'gen_ai.latency.time_to_first_token': expect.any(Number),
    });
    const parts = spans.filter(({ name }) => name !== 'llm_request');
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['tokenize', 'decode']));
    for (const part of parts) {
      expect(part).toMatchObject({ traceId: trace, parentSpanId: root.spanId });
      const [begin, end] = [part.startTimeUnixNano, part.endTimeUnixNano].map(BigInt);
      expect((begin ?? 0n) >= BigInt(root.startTimeUnixNano)).toBe(true);
      expect((end ?? 0n) <= BigInt(root.endTimeUnixNano)).toBe(true);
    }
  });

  it('begins a trace where the client has none, and leaves out those that it does not record', async () => {
    const spans = await spansOf(async () => {
      await ask({});
      await ask({ traceparent: `00-${trace}-b7ad6b7169203331-00` });
      await ask({ traceparent: 'nonsense' });
    });
    const roots = spans.filter(({ name }) => name === 'llm_request');
    expect(roots).toHaveLength(2);
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
    for (const root of roots) expect([undefined, '']).toContain(root.parentSpanId);
  });

  it('has texts only where they are asked for', async () => {
    const [root] = (await spansOf(() => ask({}), true)).filter(({ parentSpanId }) => !parentSpanId);
    const sent = JSON.stringify(root?.attributes);
    expect(sent).toContain('gen_ai.prompt');
    expect(sent).toContain('canary');
    expect(sent).toContain('gen_ai.completion');
  });

  it('asks for texts when the request is over, and then only if they are sent', async () => {
    const content = vi.spyOn(ContentRecorder.prototype, 'content');
    try {
      const headers = { traceparent: parent.replace(/01$/, '00') };
      expect(await spansOf(() => ask(headers), true)).toEqual([]);
      Object.assign(server.context.settings, { logContent: true });
      server.context.logger.level = 'warn';
      expect(await ask(headers)).toBe(200);
      expect(content).not.toHaveBeenCalled();
      server.context.logger.level = 'info';
      expect(await ask(headers)).toBe(200);
      expect(content).toHaveBeenCalledTimes(1);
    } finally {
      content.mockRestore();
    }
  });

  it('says what went wrong', async () => {
    const failure = { name: 'E', code: 'ENGINE_STEP', message: 'planted', facts: {} };
    server.engine.scripts = [{ text: 'a', error: failure }];
    const [root] = (await spansOf(() => ask({}))).filter(({ name }) => name === 'llm_request');
    expect(root?.status.code).toBe(2);
    expect(root && fields(root)).toMatchObject({ 'error.type': 'internal_error' });
  });

  it('a collector that is away costs its spans, a line in the log, and nothing else', async () => {
    const lost: [string, number][] = [];
    const traces = otlpTraces('http://127.0.0.1:9', {
      ...{ logger: server.context.logger, ...named, withContent: false },
      onLost: (cause, spans) => lost.push([cause, spans]),
    });
    Object.assign(server.context, { traces });
    expect(await ask({})).toBe(200);
    await traces.close(30_000);
    const lines = server.log.filter(({ msg }) => msg === 'traces could not be sent');
    expect(lines).toMatchObject([{ level: 40, spans: expect.any(Number) }]);
    expect(lost).toEqual([['export', lines[0]?.['spans']]]);
    expect(await ask({})).toBe(200);
  });
});
