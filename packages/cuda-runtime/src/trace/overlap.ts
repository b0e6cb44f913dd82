import { wrongKind } from '../arguments/faults.js';
import { ArgumentError } from '../errors/argument-error.js';
import type { TraceSpan } from './trace-span.js';

/**
 * Spans of a trace: one, several, those for which a function holds, or those whose name or stream
 * (with or without its `#id`) is this text.
 */
export type SpanSelection =
  | string
  | TraceSpan
  | readonly TraceSpan[]
  | ((span: TraceSpan) => boolean);

/** How long two selections ran at the same time. */
export interface Overlap {
  readonly ms: number;
  /** Of the time that the shorter selection ran: 0 … 1. */
  readonly fraction: number;
}

interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * `TraceData.overlap`.
 * @throws ArgumentError for a name that nothing has. Time that several spans of one selection share
 * counts once.
 */
export function overlapOf(
  spans: readonly TraceSpan[],
  a: SpanSelection,
  b: SpanSelection,
): Overlap {
  const first = unionOf(select(spans, 'a', a));
  const second = unionOf(select(spans, 'b', b));
  const shared = intersection(first, second);
  const shorter = Math.min(lengthOf(first), lengthOf(second));
  return { ms: shared / 1e6, fraction: shorter > 0 ? shared / shorter : 0 };
}

function select(
  spans: readonly TraceSpan[],
  argument: string,
  selection: SpanSelection,
): readonly TraceSpan[] {
  if (typeof selection === 'string') return named(spans, argument, selection);
  if (typeof selection === 'function') return spans.filter(selection);
  if (Array.isArray(selection)) {
    const wrong = selection.findIndex((span) => !isSpan(span));
    if (wrong < 0) return selection;
    throw wrongKind('trace.overlap', `${argument}[${wrong}]`, selection[wrong], 'a span');
  }
  if (isSpan(selection)) return [selection];
  throw wrongKind('trace.overlap', argument, selection, 'a span, spans, a function or a name');
}

function isSpan(value: unknown): value is TraceSpan {
  return typeof value === 'object' && value !== null && 'startNs' in value && 'endNs' in value;
}

// A misspelt name would be an overlap of nothing, which reads like a result.
function named(spans: readonly TraceSpan[], argument: string, text: string): readonly TraceSpan[] {
  const found = spans.filter((span) => isNamed(span, text));
  if (found.length > 0) return found;
  throw new ArgumentError({
    api: 'trace.overlap',
    detail: `\`${argument}\` is \`${text}\`, which no span of this trace and no stream of one is called`,
    hint: `Streams: ${listOf(spans, 'stream')}; spans: ${listOf(spans, 'name')}`,
  });
}

const mostListed = 20;

function listOf(spans: readonly TraceSpan[], key: 'stream' | 'name'): string {
  const names = [...new Set(spans.map((span) => span[key]))].filter((name) => name !== '');
  const more = names.length > mostListed ? ` and ${names.length - mostListed} more` : '';
  return `${names.slice(0, mostListed).join(', ') || 'none'}${more}`;
}

function isNamed({ name, stream }: TraceSpan, text: string): boolean {
  return name === text || stream === text || stream.replace(/#\d+$/, '') === text;
}

function unionOf(spans: readonly TraceSpan[]): readonly Interval[] {
  const result: { from: number; to: number }[] = [];
  for (const { startNs, endNs } of spans.toSorted((x, y) => x.startNs - y.startNs)) {
    const last = result.at(-1);
    if (last && startNs <= last.to) last.to = Math.max(last.to, endNs);
    else result.push({ from: startNs, to: endNs });
  }
  return result;
}

function intersection(a: readonly Interval[], b: readonly Interval[]): number {
  let shared = 0;
  let at = 0;
  for (const one of a) {
    while ((b[at]?.to ?? Infinity) <= one.from) at += 1;
    for (let next = at; next < b.length; next += 1) {
      const other = b[next];
      if (!other || other.from >= one.to) break;
      shared += Math.min(one.to, other.to) - Math.max(one.from, other.from);
    }
  }
  return shared;
}

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to - from, 0);
}
