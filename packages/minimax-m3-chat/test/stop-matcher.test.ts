import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StopMatcher } from '../src/index.js';

function run(stops: readonly string[], chunks: readonly string[], include = false) {
  const matcher = new StopMatcher(stops, { include });
  const texts: string[] = [];
  let matched: string | undefined;
  for (const chunk of chunks) {
    const step = matcher.push(chunk);
    texts.push(step.text);
    matched ??= step.matched;
  }
  texts.push(matcher.finish());
  return { texts, text: texts.join(''), matched };
}

/** Slow and obvious: the shortest beginning of the text that ends in a stop. */
function reference(stops: readonly string[], text: string) {
  for (let end = 1; end <= text.length; end++) {
    const ended = stops.filter((stop) => text.slice(0, end).endsWith(stop));
    const longest = ended.sort((a, b) => b.length - a.length)[0];
    if (longest !== undefined)
      return { text: text.slice(0, end - longest.length), matched: longest };
  }
  return { text, matched: undefined };
}

describe('StopMatcher', () => {
  test('gives held text out when the output ends first (llama.cpp#9867)', () => {
    expect(run(['TRE\nAAAA'], ['x TRE'])).toMatchObject({ text: 'x TRE', matched: undefined });
  });

  test('lets no prefix of a matched stop through (llama.cpp#11538)', () => {
    expect(run(['O P Q'], ['a', ' O', ' P', ' Q', ' tail']).texts).toEqual([
      'a',
      ' ',
      '',
      '',
      '',
      '',
    ]);
  });

  test('keeps the stop on request', () => {
    expect(run(['END'], ['a EN', 'D b'], true)).toMatchObject({ text: 'a END', matched: 'END' });
  });

  test('agrees with the slow reference under any chunking', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
    const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 }));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), chunks, (stops, parts) => {
        const { text, matched } = run(stops, parts);
        expect({ text, matched }).toEqual(reference(stops, parts.join('')));
      }),
      { numRuns: 2000 },
    );
  });

  test('refuses an empty stop string', () => {
    expect(() => new StopMatcher([''])).toThrow(
      expect.objectContaining({ code: 'CHAT_PARSER_OPTION' }),
    );
  });
});
