import { setTimeout as sleep } from 'node:timers/promises';
import { bytesPerRequest } from './memory-growth.js';
import { compareAnswers } from './soak-answers.js';
import {
  checkPages,
  compareEnds,
  compareMetrics,
  type LogLine,
  type Metrics,
  parseMetrics,
  tally,
} from './soak-checks.js';
import { SoakClient, type SoakEnd } from './soak-client.js';
import { type SoakRequest, soakRequests } from './soak-requests.js';
import { type ProcessReading, startWatched, type WatchedServer } from './watched-server.js';

/** A soak of one server. */
export interface SoakPlan {
  /** Flags of `serve` that choose the model, under the name `soak`. */
  readonly model: readonly string[];
  /** Flags that leave little room. */
  readonly limits: readonly string[];
  /** In each round; memory and handles are compared between rounds. */
  readonly requests: number;
  /** Four at least: memory is judged by the later half. */
  readonly rounds: number;
  /**
   * Requests under way at once; fewer than the server has places for, so that none of them is
   * refused.
   */
  readonly atOnce: number;
  /** So many more at the end of each round, all at once: some of these are refused. */
  readonly burst: number;
  readonly seed: number;
  /** After so long no more requests are sent, and the soak counts as failed. */
  readonly mostMs: number;
  readonly preload?: readonly URL[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a soak saw. */
export interface SoakReport {
  readonly requests: number;
  /** How requests ended, as their clients saw it. */
  readonly ends: Readonly<Record<string, number>>;
  /** Everything that is not as it should be. */
  readonly problems: readonly string[];
  /** After each round, with garbage collected and nothing under way. */
  readonly readings: readonly ProcessReading[];
  /** Over the later half of the rounds; that of heaps is of all threads. */
  readonly rssBytesPerRequest: number;
  readonly heapBytesPerRequest: number;
  /** Of the main thread, from the end of the first round on. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number };
  readonly serverCpuMs: number;
  readonly generatedTokens: number;
  readonly preemptions: number;
  /** Answers that were given again, each alone, by a server with room, and are the same. */
  readonly sameAnswers: number;
  readonly seconds: number;
}

interface Seen {
  readonly sent: readonly SoakRequest[];
  readonly ends: readonly SoakEnd[];
  readonly readings: readonly ProcessReading[];
  readonly metrics: Metrics;
}

const key = 'soak';

/** Sends requests of all kinds, then looks for what was lost and what was left behind. */
export async function runSoak(plan: SoakPlan): Promise<SoakReport> {
  const began = performance.now();
  const lines = new Map<string, LogLine[]>();
  const problems: string[] = [];
  const server = await startSoaked(plan, lines);
  let seen: Seen;
  try {
    seen = await soak(server, { plan, problems, began });
  } finally {
    const code = await server.stop();
    if (code !== 0) problems.push(`the server ended with ${code}`);
  }
  problems.push(...compareEnds(seen.ends, lines));
  problems.push(...compareMetrics(seen.metrics, [...lines.values()].flat()));
  problems.push(...compareHandles(seen.readings));
  const answers = await compareAnswers(plan.model, seen);
  problems.push(...answers.problems);
  return { ...summary(seen, plan), problems, sameAnswers: answers.same, seconds: since(began) };
}

function startSoaked(
  { model, limits, preload, env }: SoakPlan,
  lines: Map<string, LogLine[]>,
): Promise<WatchedServer> {
  const own = ['--admin-api-key', key, '--log-level', 'info', '--log-format', 'json'];
  return startWatched([...model, ...limits, ...own], {
    ...(preload ? { preload } : {}),
    ...(env ? { env } : {}),
    onLine: (text) => {
      const line = text.startsWith('{') ? (JSON.parse(text) as LogLine) : {};
      if (line.msg !== 'request' || !line.request) return;
      lines.set(line.request, [...(lines.get(line.request) ?? []), line]);
    },
  });
}

async function soak(
  server: WatchedServer,
  { plan, problems, began }: { plan: SoakPlan; problems: string[]; began: number },
): Promise<Seen> {
  const sent: SoakRequest[] = [];
  const ends: SoakEnd[] = [];
  const readings: ProcessReading[] = [];
  const client = new SoakClient(server.url, key);
  for (let round = 0; round < plan.rounds; round += 1) {
    const requests = soakRequests(plan.requests + plan.burst, { seed: plan.seed + round });
    const [steady, burst] = [requests.slice(0, plan.requests), requests.slice(plan.requests)];
    const isLate = (): boolean => performance.now() - began > plan.mostMs;
    const calm = await sendAll(client, steady, { atOnce: plan.atOnce, isLate });
    for (const { id } of calm.filter(({ code }) => code === 'overloaded')) {
      problems.push(`${id}: refused, and the server had places for all that were under way`);
    }
    sent.push(...requests);
    ends.push(...calm, ...(await sendAll(client, burst, { atOnce: plan.burst, isLate })));
    await untilIdle(client, problems);
    client.close();
    readings.push(await readAtRest(server, readings[0]));
  }
  if (ends.length < sent.length) {
    problems.push(`${ends.length} of ${sent.length} requests ended in time`);
  }
  const metrics = parseMetrics(await client.metrics());
  await client.flushCache();
  problems.push(...checkPages(parseMetrics(await client.metrics())));
  client.close();
  return { sent, ends, readings, metrics };
}

async function sendAll(
  client: SoakClient,
  requests: readonly SoakRequest[],
  { atOnce, isLate }: { atOnce: number; isLate: () => boolean },
): Promise<SoakEnd[]> {
  const ends: SoakEnd[] = [];
  const queue = requests.values();
  const worker = async (): Promise<void> => {
    for (const request of queue) {
      if (isLate()) return;
      ends.push(await client.send(request));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ends;
}

/** What clients left behind is over when the engine has nothing to do. */
async function untilIdle(client: SoakClient, problems: string[]): Promise<void> {
  for (let look = 0; look < 300; look += 1) {
    const metrics = parseMetrics(await client.metrics());
    const states = ['running', 'waiting'].map((state) => `vllm:num_requests_${state}`);
    if (states.every((name) => metrics.get(name) === 0)) return;
    await sleep(100);
  }
  problems.push('requests still run, and no client waits for them');
}

/** Sockets that were closed are given time to leave. */
async function readAtRest(
  server: WatchedServer,
  first: ProcessReading | undefined,
): Promise<ProcessReading> {
  let reading = await server.read({ collectGarbage: true, reset: first === undefined });
  for (let look = 0; look < 50 && !isSame(first, reading); look += 1) {
    await sleep(100);
    reading = await server.read({ collectGarbage: true });
  }
  return reading;
}

function isSame(first: ProcessReading | undefined, later: ProcessReading): boolean {
  return first === undefined || holds(later) === holds(first);
}

function holds({ handles, descriptors }: ProcessReading): string {
  return `${handles.join()} and ${descriptors} descriptors`;
}

function compareHandles(readings: readonly ProcessReading[]): string[] {
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last || isSame(first, last)) return [];
  return [`held were ${holds(first)}, and at the end ${holds(last)}`];
}

function summary(
  { ends, readings, metrics }: Seen,
  plan: SoakPlan,
): Omit<SoakReport, 'problems' | 'sameAnswers' | 'seconds'> {
  const last = readings.at(-1);
  if (!last) throw new Error('a soak has rounds');
  const names = ends.map(({ kind, code, reason }) =>
    [kind, code ?? reason].filter(Boolean).join(' '),
  );
  const growth = (bytesOf: (reading: ProcessReading) => number): number =>
    bytesPerRequest(
      readings.map((reading, n) => ({
        requests: (n + 1) * (plan.requests + plan.burst),
        bytes: bytesOf(reading),
      })),
    );
  return {
    requests: ends.length,
    ends: tally(names),
    readings,
    rssBytesPerRequest: growth(({ rssBytes }) => rssBytes),
    heapBytesPerRequest: growth(heapBytes),
    loopDelayMs: {
      p50: hundredths(last.loopDelayMs.p50),
      p99: hundredths(last.loopDelayMs.p99),
    },
    serverCpuMs: Math.round(last.cpuMs),
    generatedTokens: metrics.get('vllm:generation_tokens_total') ?? 0,
    preemptions: metrics.get('vllm:num_preemptions_total') ?? 0,
  };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** What all threads keep, with what lies outside of their heaps. */
export function heapBytes({ heaps }: ProcessReading): number {
  return Object.values(heaps).reduce((sum, one) => sum + one.usedBytes + one.externalBytes, 0);
}

function since(began: number): number {
  return Math.round((performance.now() - began) / 1000);
}
