import { expect, test } from 'vitest';
import { TraceRecording } from './trace.js';
import type { TraceSpan } from './trace-span.js';

const span = (name: string, stream: string, startNs: number, endNs: number): TraceSpan => ({
  name,
  kind: 'kernel',
  stream,
  thread: 1,
  startNs,
  endNs,
  graph: 3,
  node: 4,
  launch: 5,
});

const recording = new TraceRecording([
  span('gate<up>', 'main#1', 1000, 5000),
  span('experts', 'alt#2', 2000, 9000),
]);

test('Perfetto gets one track a stream and microseconds from the first span', () => {
  const { traceEvents } = JSON.parse(recording.toPerfetto());
  const named = traceEvents.filter(({ ph }: { ph: string }) => ph === 'M');
  expect(named.map(({ args }: { args: { name: string } }) => args.name)).toEqual([
    'cuda-runtime',
    'stream main#1',
    'stream alt#2',
  ]);
  const spans = traceEvents.filter(({ ph }: { ph: string }) => ph === 'X');
  expect(spans).toMatchObject([
    { name: 'gate<up>', tid: 0, ts: 0, dur: 4, args: { graph: 3, node: 4, launch: 5 } },
    { name: 'experts', tid: 1, ts: 1, dur: 7 },
  ]);
});

test('the picture has a bar a span, in proportion, with names escaped', () => {
  const svg = recording.toSvg();
  const bars = [
    ...svg.matchAll(/<title>([^<]*)<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g),
  ];
  expect(bars.map(([, title]) => title)).toEqual(['gate&lt;up&gt; · 4.0 µs', 'experts · 7.0 µs']);
  const [[, , x0, y0, w0] = [], [, , x1, y1, w1] = []] = bars;
  expect(Number(w1) / Number(w0)).toBeCloseTo(7 / 4, 3);
  expect(Number(x1) - Number(x0)).toBeCloseTo(Number(w0) / 4, 1);
  expect(y0).not.toBe(y1);
});

test('the picture says in words what it shows, escaped', () => {
  const [, svg, title] = /^(<svg [^>]*>)\n<title>([^<]*)<\/title>/.exec(recording.toSvg()) ?? [];
  expect(svg).toContain('role="img"');
  expect(title).toBe('Timeline, operations: 2, streams: main#1, alt#2');
  const odd = new TraceRecording([span('x', 'a<b', 0, 1)]).toSvg();
  expect(odd).toContain('streams: a&lt;b</title>');
});

test('an empty recording is still a document', () => {
  const empty = new TraceRecording([]);
  expect(JSON.parse(empty.toPerfetto()).traceEvents).toHaveLength(1);
  expect(empty.toSvg()).toMatch(/^<svg[\s\S]*<\/svg>$/);
  expect(empty.toSvg()).not.toMatch(/NaN|Infinity/);
});
