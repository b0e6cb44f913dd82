import { type SeededRandom, seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { startWalk } from '../../../test/grammar/makers/grammar-walk.js';
import { numberRules } from './number-range.js';
import type { Schema } from './schema-shape.js';

/** Rules of numbers as one grammar: their body, and rules that it names. */
class NumberGrammar {
  readonly held: readonly string[];
  readonly body: string | undefined;
  readonly #shared = new Map<string, string>();

  constructor(schema: Schema, isInteger: boolean) {
    const { body, held } = numberRules(schema, isInteger, (one) => {
      const name = this.#shared.get(one) ?? `r${this.#shared.size}`;
      this.#shared.set(one, name);
      return name;
    });
    this.held = held;
    this.body = body;
  }

  get text(): string {
    const lines = Array.from(this.#shared, ([body, name]) => `${name} ::= ${body}`);
    return [`root ::= ${this.body}`, ...lines].join('\n');
  }

  /** The rules as a regular expression, which these are as they stand. */
  get pattern(): RegExp {
    const bodies = new Map(Array.from(this.#shared, ([body, name]) => [name, body]));
    const plain = (body: string): string =>
      body.replaceAll(/"([^"]*)"|(r\d+)|\s/g, (_, text?: string, name?: string) =>
        name ? `(?:${plain(bodies.get(name) ?? '')})` : (text ?? '').replaceAll('.', '\\.'),
      );
    return new RegExp(`^(?:${plain(this.body ?? '')})$`);
  }
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

const lows = ['minimum', 'exclusiveMinimum'];
const highs = ['maximum', 'exclusiveMaximum'];

/** Texts of numbers, most of them near the bounds. */
function textsNear(
  bounds: readonly number[],
  { random, number, isInteger }: { random: SeededRandom; number(): number; isInteger: boolean },
): string[] {
  return Array.from({ length: 60 }, (_, index) => {
    const base = bounds[index % bounds.length] as number;
    const value = index < 30 ? base + random.integer(-25, 26) / 10 ** (index % 5) : number();
    const whole = isInteger ? Math.round(value) : value;
    const places = isInteger ? 0 : random.integer(0, 7);
    return index % 3 === 0 ? whole.toFixed(places) : String(Number(whole.toFixed(places)));
  });
}

/** A number a little above another one. */
function nextTo(value: number): number {
  const unit = 10 ** (Math.max(Math.floor(Math.log10(Math.abs(value))), -1) - 14);
  return Number((value + Math.max(unit, 1e-15)).toPrecision(15));
}

describe('numbers between bounds', () => {
  it('are those of the schema, of bounds by chance', () => {
    const random = seededRandom(4711);
    const number = (): number => {
      const places = random.integer(0, 4);
      return random.integer(-12_000, 12_000) / 10 ** places;
    };
    const counts = { held: 0, empty: 0, in: 0, out: 0 };
    for (let n = 0; n < 3000; n++) {
      const isInteger = n % 2 === 0;
      const schema: Record<string, unknown> = {};
      for (const key of [...lows, ...highs]) if (random.integer(0, 3) === 0) schema[key] = number();
      const grammar = new NumberGrammar(schema, isInteger);
      const { body, held } = grammar;
      const bounds = Object.values(schema) as number[];
      if (bounds.length === 0) continue;
      const texts = textsNear(bounds, { random, number, isInteger });
      if (body === undefined) {
        // Only of those between whose bounds there is nothing.
        expect(held).toEqual([]);
        for (const text of texts) expect(isIn(Number(text), schema), text).toBe(false);
        counts.empty += 1;
        continue;
      }
      counts.held += 1;
      expect(held).toEqual(Object.keys(schema).sort((a, b) => order(a) - order(b)));
      const { pattern } = grammar;
      for (const text of texts) {
        // The rules have no minus before a zero.
        if (/^-[0.]*$/.test(text)) continue;
        const isHeld = isIn(Number(text), schema);
        expect(pattern.test(text), `${text} of ${JSON.stringify(schema)}: ${pattern}`).toBe(isHeld);
        counts[isHeld ? 'in' : 'out'] += 1;
      }
    }
    expect(counts.held).toBeGreaterThan(1800);
    expect(counts.empty).toBeGreaterThan(100);
    expect(Math.min(counts.in, counts.out)).toBeGreaterThan(20_000);
  });

  it('are those of the schema, of bounds as long as they may be', () => {
    const random = seededRandom(815);
    const counts = { in: 0, out: 0, longest: 0 };
    /** Up to 16 digits, or 15 places, and at most as many as a number tells apart. */
    const number = (): number => {
      const wholeDigits = random.integer(1, 17);
      const text = Array.from({ length: 16 }, (_, n) => random.integer(n > 0 ? 0 : 1, 10)).join('');
      const sign = random.integer(0, 2) === 0 ? '-' : '';
      const small = random.integer(0, 4) === 0 ? `0.${text.slice(1)}` : undefined;
      const wide = `${text.slice(0, wholeDigits)}.${text.slice(wholeDigits, 15)}`;
      return Number(`${sign}${small ?? wide}`);
    };
    for (let n = 0; n < 600; n++) {
      const schema: Record<string, unknown> = {};
      const [low, high] = [number(), number()].sort((a, b) => a - b);
      // Some are bounds of one end, and some close to each other.
      const isClose = n % 7 === 0;
      const form = isClose ? 0 : n % 2;
      if (n % 3 !== 1) schema[lows[form] as string] = low;
      if (n % 3 !== 2) schema[highs[form] as string] = isClose ? nextTo(low as number) : high;
      const { body = '', pattern, text: rules } = new NumberGrammar(schema, false);
      expect(body, JSON.stringify(schema)).not.toBe('');
      counts.longest = Math.max(counts.longest, rules.length);
      const ends = Object.values(schema) as number[];
      const near = ends.flatMap((end) => [end, nextTo(end), -nextTo(-end), -end, end / 10]);
      for (const value of [...near, number(), number()]) {
        const text = String(value);
        if (!/^-?\d{1,16}(\.\d{1,15})?$/.test(text) || value === 0) continue;
        const isHeld = isIn(value, schema);
        expect(pattern.test(text), `${text} of ${JSON.stringify(schema)}: ${body}`).toBe(isHeld);
        counts[isHeld ? 'in' : 'out'] += 1;
      }
    }
    expect(Math.min(counts.in, counts.out)).toBeGreaterThan(1200);
    expect(counts.longest).toBeLessThan(2500);
  });

  it('have short rules, whatever their bounds, which the library takes as they are', async () => {
    const walk = await startWalk();
    const low = -1_234_567_890_123_456;
    const high = 9_876_543_210_987_654;
    for (const schema of [
      { minimum: low, maximum: high },
      { exclusiveMinimum: low, exclusiveMaximum: high },
      { exclusiveMinimum: high, maximum: high + 1 },
      { exclusiveMinimum: 0.123456789012345, exclusiveMaximum: 0.123456789012347 },
    ]) {
      const { text: rules } = new NumberGrammar(schema, false);
      expect(rules.length).toBeLessThan(2500);
      const grammar = { kind: 'ebnf', text: rules } as const;
      for (const base of Object.values(schema)) {
        for (const value of [base, nextTo(base), -nextTo(-base), base / 10, -base]) {
          const text = String(value);
          if (!/^-?\d{1,16}(\.\d{1,15})?$/.test(text)) continue;
          expect(await walk.takes(grammar, text), `${text}: ${rules}`).toBe(isIn(value, schema));
        }
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
    const { body, held, pattern } = new NumberGrammar(schema, false);
    expect(held).toEqual(expect.arrayContaining(Object.keys(schema)));
    for (const text of some) expect(pattern.test(text), `${text}: ${body}`).toBe(true);
    for (const text of others) expect(pattern.test(text), `${text}: ${body}`).toBe(false);
  });

  it('are listed where they are multiples', () => {
    const schema = { minimum: -7, exclusiveMaximum: 12, multipleOf: 4 };
    expect(new NumberGrammar(schema, true)).toMatchObject({
      body: '"-4" | "0" | "4" | "8"',
      held: ['minimum', 'exclusiveMaximum', 'multipleOf'],
    });
    expect(new NumberGrammar({ multipleOf: 7, minimum: 0 }, true).held).toEqual(['minimum']);
  });

  it.each([
    { minimum: 5, maximum: 4 },
    { exclusiveMinimum: true, minimum: 3 },
    { minimum: 1e300 },
    { minimum: '3' },
  ])('are not held where %j has none, or is not to be read', (schema) => {
    expect(new NumberGrammar(schema, false)).toMatchObject({ body: undefined, held: [] });
  });
});
