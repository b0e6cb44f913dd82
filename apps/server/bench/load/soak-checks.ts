import type { SoakEnd } from './soak-client.js';

/** What the log says of a request. */
export interface LogLine {
  readonly msg?: string;
  readonly request?: string;
  readonly outcome?: string;
  readonly code?: string;
}

/** Values by name, with the label that tells several of one name apart. */
export type Metrics = ReadonlyMap<string, number>;

/** Each request has one line in the log, and it says what the client saw. */
export function compareEnds(
  ends: readonly SoakEnd[],
  lines: ReadonlyMap<string, readonly LogLine[]>,
): string[] {
  return ends.flatMap(({ id, kind, reason, code, detail }) => {
    if (kind === 'wrong') return [`${id}: ${detail}`];
    const own = lines.get(id) ?? [];
    const [line] = own;
    // A client may leave before its request was read.
    if (kind === 'left' && !line) return [];
    const seen = `the client saw ${kind} ${code ?? reason ?? ''}`;
    if (own.length !== 1) return [`${id}: ${seen}, the log has ${own.length} lines`];
    const outcome = reason === 'tool_calls' ? 'stop' : reason;
    const isSame =
      kind === 'left' || (kind === 'finished' ? line?.outcome === outcome : line?.code === code);
    return isSame ? [] : [`${id}: ${seen}, the log has ${line?.outcome} ${line?.code ?? ''}`];
  });
}

/** The counters are those of the log. */
export function compareMetrics(metrics: Metrics, lines: readonly LogLine[]): string[] {
  const logged = tally(lines.map(({ outcome = '' }) => outcome));
  return ['stop', 'length', 'abort', 'error'].flatMap((reason) => {
    const counted = metrics.get(`vllm:request_success_total ${reason}`) ?? 0;
    const expected = logged[reason] ?? 0;
    if (counted === expected) return [];
    return [`${reason}: ${counted} in the metrics, ${expected} in the log`];
  });
}

/** With the cache flushed every page is free. */
export function checkPages(metrics: Metrics): string[] {
  const pages = (state: string): number => metrics.get(`altstream_kv_pages ${state}`) ?? Number.NaN;
  const held = ['evictable', 'pinned', 'reserved'].filter((state) => pages(state) !== 0);
  const errors = metrics.get('altstream_kv_ledger_errors_total');
  return [
    ...held.map((state) => `${pages(state)} pages are ${state}, and nothing runs`),
    ...(pages('free') > 0 ? [] : ['no page is free']),
    ...(errors === 0 ? [] : [`${errors} checks of the page ledger failed`]),
  ];
}

/** Reads `/metrics`. */
export function parseMetrics(text: string): Metrics {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const label = /(?:finished_reason|state)="(\w+)"/.exec(labels)?.[1];
    if (name) values.set(label === undefined ? name : `${name} ${label}`, Number(value));
  }
  return values;
}

/** How often each name occurs, in the order of names. */
export function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
