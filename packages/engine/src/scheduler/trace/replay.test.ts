import { seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { compute, makeScheduler } from '../../../test/makers/scheduling.js';
import { makeSequence } from '../../../test/makers/sequence.js';
import { replaySchedule } from './replay.js';

const saltOf = (drawn: number) =>
  drawn === 0 ? { cacheSalt: 'salted' } : drawn === 1 ? { promptLogprobs: 0 } : {};

/**
 * A trace of a busy scheduler: small pool, tenants, priorities, aborts, deadlines, a slow reader.
 */
function record(seed: number, sharing = true) {
  const random = seededRandom(seed);
  const lines: string[] = [];
  const { scheduler, check, cache } = makeScheduler(20, {
    sharing,
    maxSequences: 6,
    itlTargetMs: 20,
    queueTimeoutMs: 900,
    onTrace: (line) => lines.push(line),
  });
  const all: ReturnType<typeof makeSequence>['sequence'][] = [];
  for (let now = 0; now < 3000; now += 10) {
    if (now < 2000 && random.integer(0, 5) === 0) {
      const priority = random.integer(-1, 2);
      const { sequence } = makeSequence({
        promptTokens: random.integer(1, 40),
        maxTokens: random.integer(1, 30),
        parameters: {
          priority,
          tenant: `key-${random.integer(0, 3)}`,
          ...saltOf(random.integer(0, 4)),
        },
        ...(random.integer(0, 6) === 0 ? { deadlineMs: now + random.integer(0, 400) } : {}),
      });
      all.push(sequence);
      scheduler.add(sequence, now);
    }
    if (random.integer(0, 50) === 0) scheduler.flush();
    const one = all[random.integer(0, Math.max(1, all.length))];
    if (one && random.integer(0, 40) === 0) one.isAborted = true;
    const backlog = (['none', 'behind', 'stuck'] as const)[Math.max(0, random.integer(-20, 3))];
    const batch = scheduler.next(now + random.uniform(0, 5), backlog);
    if (batch) compute(scheduler, batch, random.uniform(0.5, 3));
    check();
  }
  return { trace: lines.join('\n'), ...scheduler.counts, ...cache.counts };
}

describe('a scheduling trace', () => {
  it.each([
    [1, true],
    [2, true],
    [3, true],
    [4, false],
  ])('replays to the same decisions (seed %i, shared pages: %s)', (seed, sharing) => {
    const { trace, preemptions, expired, hits } = record(seed, sharing);
    expect(preemptions).toBeGreaterThan(0);
    expect(expired).toBeGreaterThan(0);
    expect(hits > 0).toBe(sharing);
    expect(replaySchedule(trace)).toEqual({ decisions: 300 });
  });

  it('tells the first decision that comes out otherwise', () => {
    const lines = record(1).trace.split('\n');
    const at = lines.findIndex((line) => /"decode":\[\d+,\d+/.test(line));
    const changed = (lines[at] ?? '').replace(/"availablePages":\d+/, '"availablePages":77');
    const report = replaySchedule(lines.with(at, changed).join('\n'));
    expect(report.difference?.line).toBe(at + 1);
    expect(report.difference?.recorded.availablePages).toBe(77);
    expect(report.difference?.replayed.availablePages).toBeLessThan(20);
  });

  it('would tell of another rule: one page less changes what is decided', () => {
    const { trace } = record(2);
    expect(replaySchedule(trace.replace('"pages":20', '"pages":19')).difference).toBeDefined();
  });

  it('has no tenant and no token in it', () => {
    const { trace } = record(1);
    expect(trace).not.toMatch(/key-|salted|prompt"|ids|token":/);
    expect(trace).toMatch(/"tenant":1/);
  });

  it.each([
    ['', /line 1 is no head/],
    ['{"trace":"other"}', /line 1 is no head/],
    ['{"trace":', /line 1 is no JSON/],
  ])('refuses %s', (text, message) => {
    expect(() => replaySchedule(text)).toThrow(message);
  });

  it('names the line that is of no known kind, and a sequence that is not there', () => {
    const [head = ''] = record(1).trace.split('\n');
    expect(() => replaySchedule(`${head}\n{"x":1}`)).toThrow(/line 2 is of no known kind/);
    const commit = '{"commit":[5],"prefill":[],"prefillMs":null,"pages":[]}';
    expect(() => replaySchedule(`${head}\n${commit}`)).toThrow(/sequence 5 is not there/);
  });
});
