import { expect, test } from 'vitest';
import { formatTime, ticksOf } from './time-axis.js';
import { TraceData } from './trace-data.js';
import type { TraceSpan } from './trace-span.js';

const span = (name: string, stream: string, startNs: number, endNs: number): TraceSpan => ({
  ...{ name, kind: 'kernel', stream, thread: 1, startNs, endNs, operation: 1 },
  ...{ grid: [2, 1, 1], block: [64, 1, 1] },
});

const spans = [span('gate<up>', 'main#1', 1000, 5000), span('experts', 'alt#2', 2000, 9000)];
const svg = new TraceData({ spans }).toSvg();

test('the picture has a bar a span, in proportion, with names escaped', () => {
  const bars = [
    ...svg.matchAll(/<title>([^<]*)<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g),
  ];
  expect(bars.map(([, title]) => title)).toEqual([
    'gate&lt;up&gt; · kernel · grid 2×1×1, block 64×1×1 · 4 µs',
    'experts · kernel · grid 2×1×1, block 64×1×1 · 7 µs',
  ]);
  const [[, , x0, y0, w0] = [], [, , x1, y1, w1] = []] = bars;
  expect(Number(w1) / Number(w0)).toBeCloseTo(7 / 4, 3);
  expect(Number(x1) - Number(x0)).toBeCloseTo(Number(w0) / 4, 1);
  expect(y0).not.toBe(y1);
});

test('the picture says in words what it shows, has units and a legend, and refers to nothing', () => {
  const [, root, title] = /^(<svg [^>]*>)\n<title>([^<]*)<\/title>/.exec(svg) ?? [];
  expect(root).toContain('role="img"');
  expect(title).toBe('Timeline, operations: 2, streams: main#1, alt#2');
  expect(svg).toMatch(/>2 µs<[\s\S]*>8 µs</);
  for (const entry of ['kernel', 'copy, fill, read, write', 'programmatic', 'wait']) {
    expect(svg).toContain(`>${entry}</text>`);
  }
  expect(svg).not.toMatch(/href|url\(h|<script|<style/);
});

test('waits are arrows; ranges of the host are rows by their depth', () => {
  const [from, to] = spans;
  if (!from || !to) throw new Error('two spans');
  const range = (name: string, startNs: number, endNs: number) => ({
    ...{ name, startNs, endNs, thread: 0 },
  });
  const ranges = [
    range('inner', 1200, 1500),
    range('outer', 1000, 2000),
    range('next', 2000, 2500),
  ];
  const picture = new TraceData({ spans, ranges, flows: [{ from, to }] }).toSvg();
  expect(picture.match(/marker-end/g)).toHaveLength(2);
  const rows = [
    ...picture.matchAll(/<title>(inner|outer|next)[^<]*<\/title><rect x="[^"]*" y="(\d+)"/g),
  ];
  const y = new Map(rows.map(([, name, at]) => [name, Number(at)]));
  expect(y.get('outer')).toBe(y.get('next'));
  expect(y.get('inner')).toBe((y.get('outer') ?? 0) + 28);
});

test.for([0, 1, 2000])('with %i spans it is a document of finite numbers', (count) => {
  const many = Array.from({ length: count }, (_, at) =>
    span(`k${at}`, `s${at % 3}#${at % 3}`, at * 100, at * 100 + 90),
  );
  const picture = new TraceData({ spans: many }).toSvg();
  expect(picture).toMatch(/^<svg[\s\S]*<\/svg>$/);
  expect(picture).not.toMatch(/NaN|Infinity|undefined/);
  expect(picture.match(/<title>k/g) ?? []).toHaveLength(count);
  expect(picture.length).toBeLessThan(2000 + count * 400);
});

test('ticks are round and few; times have a unit', () => {
  expect(ticksOf(1000, 8)).toEqual([0, 200, 400, 600, 800, 1000]);
  expect(ticksOf(37, 8)).toEqual([0, 5, 10, 15, 20, 25, 30, 35]);
  expect(ticksOf(0, 8)).toEqual([0]);
  expect([0, 950, 1500, 2_500_000, 3e9].map((ns) => formatTime(ns))).toEqual([
    '0 ns',
    '950 ns',
    '1.5 µs',
    '2.5 ms',
    '3 s',
  ]);
});
