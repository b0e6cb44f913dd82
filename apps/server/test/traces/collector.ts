import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP has it in JSON. */
export interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly WireAttribute[];
  readonly events: readonly { name: string; attributes: readonly WireAttribute[] }[];
}

interface WireAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Takes what is sent to it on a free loopback port, and keeps it. */
export interface Collector {
  readonly url: string;
  readonly bodies: readonly { readonly path: string; readonly body: string }[];
  close(): void;
}

/** Starts one. */
export async function startCollector(): Promise<Collector> {
  const bodies: { path: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    for await (const chunk of request) body += String(chunk);
    bodies.push({ path: request.url ?? '', body });
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The spans of a body. */
export function spansIn(body: string): readonly WireSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** Attributes by their names. */
export function fieldsOf(attributes: readonly WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
