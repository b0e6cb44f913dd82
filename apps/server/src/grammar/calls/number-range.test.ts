import { seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { numberRules } from './number-range.js';
import type { Schema } from './schema-shape.js';

/** The rules as a regular expression, which these are as they stand. */
function patternOf(body: string): RegExp {
  const source = body.replaceAll(/"([^"]*)"|\s/g, (_, text: string | undefined) =>
    (text ?? '').replaceAll('.', '\\.'),
  );
  return new RegExp(`^(?:${source})$`);
}

function isIn(value: number, schema: Schema): boolean {
  const bound = (key: string, otherwise: number): number => (schema[key] as number) ?? otherwise;
  return (
    value >= bound('minimum', -Infinity) &&
    value <= bound('maximum', Infinity) &&
    value > bound('exclusiveMinimum', -Infinity) &&
    value < bound('exclusiveMaximum', Infinity)
  );
}

describe('numbers between bounds', () => {
  it('are those of the schema, of bounds by chance', () => {
    const random = seededRandom(4711);
    const number = (): number => {
      const places = random.integer(0, 4);
      return random.integer(-12_000, 12_000) / 10 ** places;
    };
    for (let n = 0; n < 3000; n++) {
      const isInteger = n % 2 === 0;
      const schema: Record<string, unknown> = {};
      const lows = ['minimum', 'exclusiveMinimum'];
      const highs = ['maximum', 'exclusiveMaximum'];
      for (const key of [...lows, ...highs]) if (random.integer(0, 3) === 0) schema[key] = number();
      const { body, held } = numberRules(schema, isInteger);
      if (body === undefined) continue;
      expect(held).toEqual(Object.keys(schema).sort((a, b) => order(a) - order(b)));
      const pattern = patternOf(body);
      const near = Object.values(schema) as number[];
      const texts = Array.from({ length: 60 }, (_, index) => {
        const base = near[index % near.length] as number;
        const value = index < 30 ? base + random.integer(-25, 26) / 10 ** (index % 5) : number();
        const whole = isInteger ? Math.round(value) : value;
        const places = isInteger ? 0 : random.integer(0, 7);
        return index % 3 === 0 ? whole.toFixed(places) : String(Number(whole.toFixed(places)));
      });
      for (const text of texts) {
        // The rules have no minus before a zero.
        if (/^-[0.]*$/.test(text)) continue;
        const facts = `${text} of ${JSON.stringify(schema)}: ${pattern}`;
        expect(pattern.test(text), facts).toBe(isIn(Number(text), schema));
      }
    }
  });

  const order = (key: string): number =>
    ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'].indexOf(key);

  it.each([
    [{ minimum: 0 }, ['0', '0.5', '12', '9'.repeat(16)], ['-1', '-0.1', '01', '']],
    [{ exclusiveMinimum: 0 }, ['0.1', '1', '0.000001'], ['0', '0.0', '-1']],
    [{ minimum: -90, maximum: 90 }, ['-90', '90', '-89.99', '0', '90.0'], ['90.01', '-90.5']],
    [{ minimum: 0, maximum: 1 }, ['0', '1', '0.5', '1.0', '0.999'], ['1.01', '2', '1.']],
    [{ multipleOf: 0.01 }, ['0', '1.5', '-3.25', '12'], ['0.001', '3.']],
    [{ multipleOf: 0.01, minimum: 0.5, maximum: 2 }, ['0.5', '0.51', '2.00'], ['0.49', '2.01']],
    [{ multipleOf: 1, exclusiveMaximum: 3 }, ['2', '-7'], ['3', '2.5']],
  ])('of %j are some and not others', (schema, some, others) => {
    const { body, held } = numberRules(schema, false);
    expect(held).toEqual(expect.arrayContaining(Object.keys(schema)));
    const pattern = patternOf(body ?? '');
    for (const text of some) expect(pattern.test(text), `${text}: ${body}`).toBe(true);
    for (const text of others) expect(pattern.test(text), `${text}: ${body}`).toBe(false);
  });

  it('are listed where they are multiples', () => {
    const schema = { minimum: -7, exclusiveMaximum: 12, multipleOf: 4 };
    expect(numberRules(schema, true)).toEqual({
      body: '"-4" | "0" | "4" | "8"',
      held: ['minimum', 'exclusiveMaximum', 'multipleOf'],
    });
    expect(numberRules({ multipleOf: 7, minimum: 0 }, true).held).toEqual(['minimum']);
  });

  it.each([
    { minimum: 5, maximum: 4 },
    { exclusiveMinimum: true, minimum: 3 },
    { minimum: 1e300 },
    { minimum: '3' },
  ])('are not held where %j has none, or is not to be read', (schema) => {
    expect(numberRules(schema, false)).toEqual({ body: undefined, held: [] });
  });
});
