import { open, type Stream, Tensor } from '@altstream/cuda-runtime';
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

  it.each([
    ['the one that joined it: only the fork is in front', 'same', 1],
    ['another one that has not: its own order stays', 'other', 2],
  ] as const)('leaves the alternate stream, in a capture of %s', async (_, who, expected) => {
    const runtime = await open({ backend: 'cpu', isolated: true });
    const device = runtime.device();
    const [main, other, alt] = [0, 1, 2].map(() => device.createStream());
    if (!main || !other || !alt) throw new Error('three streams');
    const [a, b] = [0, 1].map(() => Tensor.allocate(device, [4], 'i32', { stream: main }));
    if (!a || !b) throw new Error('two tensors');
    await main.synchronize();
    const overlap = new Overlap('capture', alt);
    const run = (stream: Stream, tensor: Tensor) => {
      const step = { stream, tokens: 1, beside: () => ({ stream: alt }) } as unknown as ModelStep;
      const nothing = () => undefined;
      overlap.run(step, { current: nothing, alternate: () => void alt.fill(tensor, 0) });
    };
    const graph = device.capture(
      () => {
        main.fill(b, 1);
        other.waitStream(main);
        other.fill(b, 2);
        run(main, a);
        main.fill(b, 3); // as the sum of both branches
        run(who === 'same' ? main : other, a);
        main.waitStream(other);
      },
      { stream: main },
    );
    const last = graph.nodes.length - 1;
    expect(graph.edges.filter(({ to }) => to === last)).toHaveLength(expected);
    await runtime.dispose();
  });
});
