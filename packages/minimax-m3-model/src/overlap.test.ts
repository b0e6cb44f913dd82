import type { Stream } from '@altstream/cuda-runtime';
import { describe, expect, it } from 'vitest';
import type { ModelStep } from './model-step.js';
import { Overlap, type OverlapMode } from './overlap.js';

const alternate = fakeStream('none');

/** As much of a stream as the decision looks at. */
function fakeStream(captureStatus: Stream['captureStatus']): Stream {
  return { name: 'alt', captureStatus } as unknown as Stream;
}

function fakeStep(stream: Stream, tokens = 1): ModelStep {
  return { stream, tokens } as unknown as ModelStep;
}

const eager = fakeStream('none');
const capturing = fakeStream('active');

describe('Overlap', () => {
  it.each<[OverlapMode, string, Stream, boolean]>([
    ['capture', 'an eager stream', eager, false],
    ['capture', 'a capturing stream', capturing, true],
    ['capture', 'an invalidated capture', fakeStream('invalidated'), false],
    ['always', 'an eager stream', eager, true],
    ['off', 'a capturing stream', capturing, false],
  ])('%s on %s', (mode, _, stream, expected) => {
    expect(new Overlap(mode, alternate).applies(fakeStep(stream))).toBe(expected);
  });

  it('needs an alternate stream, another one than the current, and tokens', () => {
    expect(new Overlap('always', undefined).applies(fakeStep(eager))).toBe(false);
    expect(new Overlap('always', alternate).applies(fakeStep(alternate))).toBe(false);
    expect(new Overlap('always', alternate).applies(fakeStep(eager, 0))).toBe(false);
    expect(new Overlap('always', alternate).alternateName).toBe('alt');
  });

  it('runs the current branch first when there is no overlap', () => {
    const order: string[] = [];
    const step = fakeStep(eager);
    const results = new Overlap('off', undefined).run(step, {
      current: (given) => order.push(`current ${given === step}`),
      alternate: (given) => order.push(`alternate ${given === step}`),
    });
    expect(order).toEqual(['current true', 'alternate true']);
    expect(results).toEqual([1, 2]);
  });
});
