import { describe, expect, it } from 'vitest';
import { busyTimes, lanesWithin, parseTrace, wholeTrace } from './trace-lanes.js';

const meta = (name: string, pid: number, tid: number | undefined, shown: string) => ({
  ...{ ph: 'M', name, pid, args: { name: shown } },
  ...(tid === undefined ? {} : { tid }),
});
const slice = (name: string, pid: number, tid: number, ts: number, dur: number) => ({
  ...{ ph: 'X', name, pid, tid, ts, dur },
});
const trace = JSON.stringify({
  traceEvents: [
    meta('process_name', 1, undefined, 'host'),
    meta('process_name', 2, undefined, 'cuda-runtime'),
    meta('thread_name', 2, 0, 'main'),
    meta('thread_name', 2, 1, 'alt'),
    slice('decode step 1', 1, 0, 0, 10),
    slice('decode step 2', 1, 0, 10, 10),
    slice('stepper', 1, 0, 20, 1),
    slice('experts', 2, 1, 13, 5),
    slice('shared', 2, 0, 12, 4),
    slice('inner', 2, 0, 13, 1),
    slice('early', 2, 0, 1, 2),
    { ph: 's', name: 'wait', pid: 2, ts: 1 },
  ],
});

describe('a trace', () => {
  const parsed = parseTrace(trace);

  it('has lanes with their names, those of the device first, and the steps that it names', () => {
    expect(parsed.lanes.map(({ process, name }) => `${process} ${name}`)).toEqual([
      'cuda-runtime alt',
      'cuda-runtime main',
      'host 1/0',
    ]);
    expect(parsed.steps.map(({ name }) => name)).toEqual(['decode step 1', 'decode step 2']);
    expect(wholeTrace(parsed)).toMatchObject({ startUs: 0, endUs: 21 });
  });

  it('is cut to a step, and says how long two streams worked at once', () => {
    const [, step] = parsed.steps;
    if (!step) throw new Error('no second step');
    const lanes = lanesWithin(parsed.lanes, step).filter(({ process }) => process !== 'host');
    expect(lanes.flatMap(({ slices }) => slices.map(({ name }) => name))).toEqual([
      'experts',
      'shared',
      'inner',
    ]);
    expect(busyTimes(lanes)).toEqual({ anyUs: 6, twoUs: 3 });
    const half = lanesWithin(lanes, { name: '', startUs: 14, endUs: 15 });
    expect(busyTimes(half)).toEqual({ anyUs: 1, twoUs: 1 });
  });

  it.each([
    ['{', /is no JSON/],
    ['{}', /no `traceEvents`/],
    ['null', /no `traceEvents`/],
    ['[null, {"ph":"X"}]', /holds no slices/],
  ])('that is %s is refused', (text, message) => {
    expect(() => parseTrace(text)).toThrow(message);
  });
});
