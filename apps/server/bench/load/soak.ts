import { setTimeout as sleep } from 'node:timers/promises';
import { SoakClient, type SoakEnd } from './soak-client.js';
import { type SoakRequest, soakRequests } from './soak-requests.js';
import { type ProcessReading, startWatched, type WatchedServer } from './watched-server.js';

/** A soak of one server. */
export interface SoakPlan {
  /** Flags of `serve` that choose the model. */
  readonly flags: readonly string[];
  readonly model: string;
  /** In each round; memory and handles are compared between rounds. */
  readonly requests: number;
  /** The first one warms up. */
  readonly rounds: number;
  /** Requests under way at once. */
  readonly atOnce: number;
  readonly seed: number;
  /** After so long no more requests are sent, and the soak counts as failed. */
  readonly mostMs: number;
  readonly preload?: readonly URL[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a soak saw. */
export interface SoakReport {
  readonly requests: number;
  readonly ends: Readonly<Record<string, number>>;
  /** Everything that is not as it should be. */
  readonly problems: readonly string[];
  /** After each round, with garbage collected and nothing under way. */
  readonly readings: readonly ProcessReading[];
  /** From the end of the first round to the end of the last one. */
  readonly rssBytesPerRequest: number;
  readonly heapBytesPerRequest: number;
  /** Of the main thread, from the end of the first round on. */
  readonly loopDelayMs: ProcessReading['loopDelayMs'];
  readonly serverCpuMs: number;
  readonly generatedTokens: number;
  readonly preemptions: number;
  readonly seconds: number;
}

interface LogLine {
  readonly msg?: string;
  readonly request?: string;
  readonly outcome?: string;
  readonly code?: string;
}

const key = 'soak';

/** Sends requests of all kinds, then looks for what was lost and what was left behind. */
export async function runSoak(plan: SoakPlan): Promise<SoakReport> {
  const lines = new Map<string, LogLine[]>();
  const server = await startWatched(
    [...plan.flags, '--admin-api-key', key, '--log-level', 'info', '--log-format', 'json'],
    {
      ...(plan.preload ? { preload: plan.preload } : {}),
      ...(plan.env ? { env: plan.env } : {}),
      onLine: (text) => {
        const line = text.startsWith('{') ? (JSON.parse(text) as LogLine) : {};
        if (line.msg !== 'request' || !line.request) return;
        lines.set(line.request, [...(lines.get(line.request) ?? []), line]);
      },
    },
  );
  const problems: string[] = [];
  const began = performance.now();
  try {
    return await soak(server, plan, { lines, problems, began });
  } finally {
    const code = await server.stop();
    if (code !== 0) problems.push(`the server ended with ${code}`);
  }
}

async function soak(
  server: WatchedServer,
  plan: SoakPlan,
  seen: { lines: ReadonlyMap<string, LogLine[]>; problems: string[]; began: number },
): Promise<SoakReport> {
  const { problems, began } = seen;
  const ends: SoakEnd[] = [];
  const readings: ProcessReading[] = [];
  const client = new SoakClient(server.url, key);
  for (let round = 0; round < plan.rounds; round += 1) {
    const requests = soakRequests(plan.requests, { model: plan.model, seed: plan.seed + round });
    ends.push(...(await sendAll(client, requests, plan, began)));
    await untilIdle(client, problems);
    client.close();
    await sleep(300); // sockets that were closed leave the loop
    readings.push(await server.read({ collectGarbage: true, reset: round === 0 }));
  }
  const sent = plan.requests * plan.rounds;
  if (ends.length < sent) problems.push(`${ends.length} of ${sent} requests ended in time`);
  problems.push(...compareEnds(ends, seen.lines));
  const before = parseMetrics(await client.metrics());
  problems.push(...compareMetrics(before, [...seen.lines.values()].flat()));
  await client.flushCache();
  problems.push(...checkPages(parseMetrics(await client.metrics())));
  client.close();
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last) throw new Error('a soak has rounds');
  if (last.handles.join() !== first.handles.join()) {
    problems.push(`handles were ${first.handles.join()} and are ${last.handles.join()}`);
  }
  const later = plan.requests * (plan.rounds - 1);
  return {
    requests: ends.length,
    ends: tally(
      ends.map(({ kind, code, reason }) => [kind, code ?? reason].filter(Boolean).join(' ')),
    ),
    problems,
    readings,
    rssBytesPerRequest: Math.round((last.rssBytes - first.rssBytes) / later),
    heapBytesPerRequest: Math.round((last.heapBytes - first.heapBytes) / later),
    loopDelayMs: last.loopDelayMs,
    serverCpuMs: last.cpuMs,
    generatedTokens: before.get('vllm:generation_tokens_total') ?? 0,
    preemptions: before.get('vllm:num_preemptions_total') ?? 0,
    seconds: Math.round((performance.now() - began) / 1000),
  };
}

async function sendAll(
  client: SoakClient,
  requests: readonly SoakRequest[],
  { atOnce, mostMs }: SoakPlan,
  began: number,
): Promise<SoakEnd[]> {
  const ends: SoakEnd[] = [];
  const queue = requests.values();
  const worker = async (): Promise<void> => {
    for (const request of queue) {
      if (performance.now() - began > mostMs) return;
      ends.push(await client.send(request));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ends;
}

/** What clients left behind is over when the engine has nothing to do. */
async function untilIdle(client: SoakClient, problems: string[]): Promise<void> {
  for (let look = 0; look < 100; look += 1) {
    const metrics = parseMetrics(await client.metrics());
    const [running, waiting] = ['running', 'waiting'].map((state) =>
      metrics.get(`vllm:num_requests_${state}`),
    );
    if (running === 0 && waiting === 0) return;
    await sleep(100);
  }
  problems.push('requests still run, and no client waits for them');
}

/** Each request has one line in the log, and it says what the client saw. */
function compareEnds(ends: readonly SoakEnd[], lines: ReadonlyMap<string, LogLine[]>): string[] {
  return ends.flatMap(({ id, kind, reason, code, detail }) => {
    if (kind === 'wrong') return [`${id}: ${detail}`];
    const own = lines.get(id) ?? [];
    const [line] = own;
    // A client may leave before its request was read.
    if (kind === 'left' && !line) return [];
    if (own.length !== 1)
      return [`${id} ${kind} ${code ?? reason}: ${own.length} lines in the log`];
    const logged = `${line?.outcome} ${line?.code ?? ''}`;
    const outcome = reason === 'tool_calls' ? 'stop' : reason;
    const isSame =
      kind === 'left' || (kind === 'finished' ? line?.outcome === outcome : line?.code === code);
    return isSame ? [] : [`${id}: the client saw ${kind} ${code ?? reason}, the log has ${logged}`];
  });
}

/** The counters are those of the log. */
function compareMetrics(metrics: ReadonlyMap<string, number>, lines: readonly LogLine[]): string[] {
  const logged = tally(lines.map(({ outcome = '' }) => outcome));
  return ['stop', 'length', 'abort', 'error'].flatMap((reason) => {
    const counted = metrics.get(`vllm:request_success_total ${reason}`) ?? 0;
    const expected = logged[reason] ?? 0;
    return counted === expected
      ? []
      : [`${reason}: ${counted} in the metrics, ${expected} in the log`];
  });
}

/** With the cache flushed every page is free. */
function checkPages(metrics: ReadonlyMap<string, number>): string[] {
  const pages = (state: string): number => metrics.get(`altstream_kv_pages ${state}`) ?? Number.NaN;
  const held = ['evictable', 'pinned', 'reserved'].filter((state) => pages(state) !== 0);
  const errors = metrics.get('altstream_kv_ledger_errors_total');
  return [
    ...held.map((state) => `${pages(state)} pages are ${state}, and nothing runs`),
    ...(pages('free') > 0 ? [] : ['no page is free']),
    ...(errors === 0 ? [] : [`${errors} checks of the page ledger failed`]),
  ];
}

/** Values by name, with the label that tells several of one name apart. */
function parseMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const label = /(?:finished_reason|state)="(\w+)"/.exec(labels)?.[1];
    if (name) values.set(label === undefined ? name : `${name} ${label}`, Number(value));
  }
  return values;
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
