import { expect, test } from 'vitest';
import { chromeEvents, chromeTraceFaults } from '../../test/makers/check-chrome-trace.js';
import { TraceData } from './trace-data.js';
import type { TraceSpan } from './trace-span.js';
import { tracksOf } from './tracks.js';

let operations = 0;

function span(
  name: string,
  stream: string,
  startNs: number,
  endNs: number,
  more: Partial<TraceSpan> = {},
): TraceSpan {
  operations += 1;
  return {
    name,
    kind: 'kernel',
    stream,
    thread: 1,
    startNs,
    endNs,
    operation: operations,
    ...more,
  };
}

const gate = span('gate<up>', 'main#1', 1000, 5000, {
  grid: [2, 1, 1],
  block: [256, 1, 1],
  graph: 3,
  captureId: 9,
  node: 4,
  replay: 5,
});
const experts = span('experts', 'alt#2', 2000, 9000, { bytes: 64 });
const recording = new TraceData({
  spans: [gate, experts],
  flows: [{ from: gate, to: span('add', 'alt#2', 9000, 9500) }],
});

test('tracks: main first, alt second, then by id; sub-tracks beside their stream', () => {
  const names = tracksOf([
    span('a', 'copies#10', 0, 1),
    span('b', 'other#9', 0, 1),
    span('c', 'alt#7', 0, 1),
    span('d', 'main#8', 0, 10),
    span('e', 'main#8', 5, 12, { programmatic: true }),
    span('f', 'main#8', 12, 13),
  ]).map(({ name, spans }) => [name, spans.map((one) => one.name).join()]);
  expect(names).toEqual([
    ['main#8', 'd,f'],
    ['main#8 (programmatic)', 'e'],
    ['alt#7', 'c'],
    ['other#9', 'b'],
    ['copies#10', 'a'],
  ]);
});

test('nodes that were captured on no stream share as few lanes as possible', () => {
  const node = (name: string, from: number, to: number) => span(name, '', from, to, { graph: 3 });
  const tracks = tracksOf([node('a', 0, 4), node('b', 1, 3), node('c', 2, 6), node('d', 3, 5)]);
  expect(tracks.map(({ name, spans }) => [name, spans.map((one) => one.name).join()])).toEqual([
    ['graph 3', 'a'],
    ['graph 3 (2)', 'b,d'],
    ['graph 3 (3)', 'c'],
  ]);
});

test('Chrome JSON: a slice has its facts, a wait is an arrow, times are from the first', () => {
  const text = recording.toChromeJson();
  const slices = chromeEvents(text).filter(({ ph }) => ph === 'X');
  expect(slices).toMatchObject([
    {
      name: 'gate<up>',
      ts: 0,
      dur: 4,
      args: { kind: 'kernel', grid: '2×1×1', block: '256×1×1', captureId: 9, nodeId: 4, replay: 5 },
    },
    { name: 'experts', ts: 1, dur: 7, args: { bytes: 64 } },
  ]);
  const names = chromeEvents(text).filter(({ name }) => name === 'thread_name');
  expect(names.map(({ args }) => args?.['name'])).toEqual(['main#1', 'alt#2']);
});

test('the checker of Chrome JSON finds what breaks the rules', () => {
  const slice = (ts: number, dur: number) => ({
    ph: 'X',
    name: 'x',
    cat: 'c',
    pid: 1,
    tid: 1,
    ts,
    dur,
  });
  const faults = (...traceEvents: object[]) => chromeTraceFaults(JSON.stringify({ traceEvents }));
  expect(faults(slice(0, 5), slice(3, 5))).toContainEqual('x overlaps x partly');
  expect(faults(slice(0, 5), slice(3, 2)).join()).not.toContain('partly');
  expect(faults(slice(0, 5))).toContainEqual('x is on a track without a name or sort index');
  const arrow = { name: 'w', cat: 'w', pid: 1, tid: 1, id: 1, bp: 'e' };
  expect(faults(slice(0, 5), { ...arrow, ph: 's', ts: 4 })).toContainEqual('1 flow starts, 0 ends');
  expect(
    faults(slice(0, 5), { ...arrow, ph: 's', ts: 4 }, { ...arrow, ph: 'f', ts: 2 }),
  ).toContainEqual('f 1 ends before it begins');
  expect(faults({ ...arrow, ph: 'f', ts: 9 })).toContainEqual(
    'f 1 is outside every slice of its track',
  );
  expect(faults({ ph: 'B', name: 'x', pid: 1 })).toContainEqual('unknown phase B');
});

test('overlap is the common time, and its part of the shorter', () => {
  expect(recording.overlap('gate<up>', 'experts')).toEqual({ ms: 0.003, fraction: 0.75 });
  expect(recording.overlap('main', 'alt#2')).toEqual({ ms: 0.003, fraction: 0.75 });
  expect(recording.overlap(gate, [experts, experts])).toEqual({ ms: 0.003, fraction: 0.75 });
  expect(
    recording.overlap(
      ({ bytes }) => bytes === 64,
      () => false,
    ),
  ).toEqual({
    ms: 0,
    fraction: 0,
  });
  expect(() => recording.overlap('main', 'nobody')).toThrow(
    /`b` is `nobody`, which no span .* Streams: main#1, alt#2; spans: gate<up>, experts/,
  );
  // @ts-expect-error a number selects nothing
  expect(() => recording.overlap(1, 'main')).toThrow(
    '`a` is 1, expected a span, spans, a function',
  );
});
