import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GenerationParameters, settleParameters } from './generation-parameters.js';
import { type Stop, StopCondition } from './stop-condition.js';

const byteOf = (id: number): Uint8Array => Uint8Array.of(id);

function feed(parameters: GenerationParameters, ids: readonly number[], maxTokens = 1000) {
  const condition = new StopCondition(settleParameters(parameters), maxTokens, byteOf);
  const stops: (Stop | undefined)[] = ids.map((id, index) => condition.after(id, index + 1));
  const index = stops.findIndex((stop) => stop !== undefined);
  return { index, stop: stops[index] };
}

describe('the stop condition', () => {
  it('ends at a stop token', () => {
    expect(feed({ stopTokenIds: [9] }, [1, 9, 3])).toEqual({
      index: 1,
      stop: { reason: 'stop', stop: 9 },
    });
  });

  it('ends at the most tokens', () => {
    expect(feed({}, [1, 2, 3], 2)).toEqual({ index: 1, stop: { reason: 'length' } });
  });

  it('ignores stop tokens when told to, and before the least number of tokens', () => {
    expect(feed({ stopTokenIds: [9], ignoreEos: true }, [9, 9]).index).toBe(-1);
    expect(feed({ stopTokenIds: [9], minTokens: 2 }, [9, 9, 9]).index).toBe(2);
  });

  it('finds a stop string across token borders and inside multi-byte characters', () => {
    const bytes = [...Buffer.from('ab–END.')];
    expect(feed({ stopStrings: ['–END'] }, bytes)).toEqual({
      index: bytes.length - 2,
      stop: { reason: 'stop', stop: '–END' },
    });
  });

  it('does not end at a string that was complete before the least number of tokens', () => {
    const parameters = { stopStrings: ['ab', 'abcdef'], minTokens: 2 };
    expect(feed(parameters, [...Buffer.from('abcdcab.')])).toEqual({
      index: 6,
      stop: { reason: 'stop', stop: 'ab' },
    });
  });

  it('reports the string that ends first', () => {
    expect(feed({ stopStrings: ['bcd', 'c'] }, [...Buffer.from('abcd')]).stop?.stop).toBe('c');
  });

  it('agrees with indexOf for any text and needle', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 30 });
    const needle = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(text, needle, (hay, stop) => {
        const bytes = Buffer.from(hay);
        const start = bytes.indexOf(Buffer.from(stop));
        const expected = start < 0 ? -1 : start + Buffer.from(stop).length - 1;
        expect(feed({ stopStrings: [stop] }, [...bytes]).index).toBe(expected);
      }),
    );
  });
});
