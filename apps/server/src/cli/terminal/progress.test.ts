import { Writable } from 'node:stream';
import pino from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { makeBars, makeProgress, PhaseSpeed } from './progress.js';

const gib = 2 ** 30;

describe('a phase', () => {
  it('says bytes, speed and the time that is left', () => {
    let now = 0;
    const speed = new PhaseSpeed(gib, () => now);
    const at = (done: number) => speed.text({ phase: 'weights', done, total: 5 * gib });
    expect(at(gib)).toBe('1.0 GiB of 5.0 GiB');
    now = 2000;
    // Two GiB in two seconds, two more are to come.
    expect(at(3 * gib)).toBe('3.0 GiB of 5.0 GiB, 1.07 GB/s, 2 s left');
    now = 4000;
    const done = { phase: 'weights', done: 5 * gib, total: 5 * gib };
    expect(speed.doneText(done)).toBe('5.0 GiB, 1.07 GB/s, 4.0 s');
  });

  it('without bytes has its note and its time only', () => {
    let now = 0;
    const speed = new PhaseSpeed(0, () => now);
    const progress = { phase: 'graphs', done: 0, total: 1, note: '8 rows' };
    now = 1500;
    expect(speed.text(progress)).toBe('8 rows');
    expect(speed.doneText(progress)).toBe('1.5 s');
  });
});

describe('progress elsewhere than on a terminal', () => {
  it('is a log line for each phase, and every five seconds within one', () => {
    vi.useFakeTimers();
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
    const display = makeProgress(logger, false);
    const weights = (done: number) => display.update({ phase: 'weights', done, total: 100 });
    display.update({ phase: 'runtime', done: 0, total: 1 });
    weights(0);
    vi.advanceTimersByTime(4000);
    weights(40);
    vi.advanceTimersByTime(1000);
    weights(50);
    display.update({ phase: 'graphs', done: 0, total: 1 });
    display.stop(true);
    vi.useRealTimers();
    expect(lines.map(({ phase, done }) => [phase, done])).toEqual([
      ['runtime', 0],
      ['weights', 0],
      ['weights', 50],
      ['graphs', 0],
    ]);
    expect(lines[2]).toMatchObject({ total: 100, bytesPerSecond: 10 });
  });
});

describe('progress on a terminal', () => {
  const shown = (isLoaded: boolean): string => {
    let text = '';
    const stream = new Writable({
      write: (chunk, _, done) => {
        text += String(chunk);
        done();
      },
    });
    const bars = makeBars(stream);
    bars.update({ phase: 'weights', done: 0, total: gib });
    bars.update({ phase: 'weights', done: gib / 2, total: gib });
    bars.update({ phase: 'graphs', done: 0, total: 1 });
    bars.stop(isLoaded);
    return text;
  };

  it('keeps a bar for each phase, the one before ended', () => {
    const text = shown(true);
    expect(text).toMatch(/weights .* 100 % 1\.0 GiB|weights .* 100 % \d\.\d s/);
    expect(text).toMatch(/graphs .* 100 % \d\.\d s/);
  });

  it('does not say that a phase is done when loading failed', () => {
    expect(shown(false)).not.toMatch(/graphs .* 100 %/);
  });
});
