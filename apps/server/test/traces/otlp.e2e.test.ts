import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { otlpTraces } from '../../src/traces/otlp-traces.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
}

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = `00-${trace}-b7ad6b7169203331-01`;

const named = { serviceName: 'altstream' };

describe('--otlp-traces-endpoint', () => {
  let server: ScriptedServer;
  let collector: Server;
  const bodies: { path: string; body: string }[] = [];
  const endpoint = (): string => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

  beforeEach(async () => {
    bodies.length = 0;
    collector = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      bodies.push({ path: request.url ?? '', body });
      response.setHeader('content-type', 'application/json').end('{}');
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    server = await startScripted();
  });
  afterEach(async () => {
    await server.close();
    collector.closeAllConnections();
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
    const traces = otlpTraces(endpoint(), { logger: server.context.logger, ...named, withContent });
    Object.assign(server.context, { traces });
    await send();
    await traces.close(10_000);
    return bodies.flatMap(({ body }) =>
      JSON.parse(body).resourceSpans.flatMap(
        ({ scopeSpans }: { scopeSpans: { spans: WireSpan[] }[] }) =>
          scopeSpans.flatMap(({ spans }) => spans),
      ),
    );
  }
  const fields = ({ attributes }: WireSpan): Record<string, unknown> =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

  it('sends a span of each request with its parts, below the client’s', async () => {
    const spans = await spansOf(() => ask({ traceparent: parent, 'x-request-id': 'one' }));
    expect(bodies.map(({ path }) => path)).toEqual(['/v1/traces']);
    expect(bodies[0]?.body).toContain('"service.name","value":{"stringValue":"altstream"}');
    expect(bodies[0]?.body).not.toContain('canary');
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

  it('says what went wrong', async () => {
    const failure = { name: 'E', code: 'ENGINE_STEP', message: 'planted', facts: {} };
    server.engine.scripts = [{ text: 'a', error: failure }];
    const [root] = (await spansOf(() => ask({}))).filter(({ name }) => name === 'llm_request');
    expect(root?.status.code).toBe(2);
    expect(root && fields(root)).toMatchObject({ 'error.type': 'internal_error' });
  });

  it('a collector that is away costs its spans, a line in the log, and nothing else', async () => {
    const traces = otlpTraces('http://127.0.0.1:9', {
      ...{ logger: server.context.logger, ...named, withContent: false },
    });
    Object.assign(server.context, { traces });
    expect(await ask({})).toBe(200);
    await traces.close(30_000);
    const lines = server.log.filter(({ msg }) => msg === 'traces could not be sent');
    expect(lines).toMatchObject([{ level: 40, spans: expect.any(Number) }]);
    expect(await ask({})).toBe(200);
  });
});
