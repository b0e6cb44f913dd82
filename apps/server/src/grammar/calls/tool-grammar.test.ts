import { TagNames } from '@altstream/minimax-m3-chat';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../errors/index.js';
import { toolCallGrammar } from './tool-grammar.js';

type Schema = Readonly<Record<string, unknown>>;

/** Rules of a call of one function; a refusal as its message. */
function rulesOf(parameters: Schema): string {
  const names = new TagNames([]);
  const form = { isSingle: true, param: 'tools', names };
  return toolCallGrammar([{ name: 'f', parameters }], form).grammar.text;
}

function refusalOf(parameters: Schema): string {
  try {
    return `${rulesOf(parameters).length} bytes`;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error).toMatchObject({ status: 400, code: 'invalid_schema', param: 'tools' });
    return error.message;
  }
}

function objectOf(count: number, property: (index: number) => unknown): Schema {
  const entries = Array.from({ length: count }, (_, index) => [`p${index}`, property(index)]);
  return { type: 'object', properties: Object.fromEntries(entries) };
}

/** Schemas that count how many of them had one of their keywords read. */
class Readings {
  readonly #read = new Set<object>();

  get count(): number {
    return this.#read.size;
  }

  of(schema: Schema, keyword: string): Schema {
    const read = this.#read;
    const value = schema[keyword];
    const counted = { ...schema };
    return Object.defineProperty(counted, keyword, {
      enumerable: true,
      get: () => {
        read.add(counted);
        return value;
      },
    });
  }
}

const low = -1_234_567_890_123_456;
const high = 9_876_543_210_987_654;
const steps = /a schema of a tool needs more than 131072 steps to become rules/;

describe('rules of calls', () => {
  it('have one rule for all numbers with the same bounds, and for all equal patterns', () => {
    const bytesOf = (property: (index: number) => Schema): number =>
      rulesOf(objectOf(500, property)).length - rulesOf(objectOf(500, () => ({}))).length;
    expect(bytesOf(() => ({ type: 'number', minimum: low, maximum: high }))).toBeLessThan(20_000);
    expect(bytesOf(() => ({ type: 'string', pattern: '.'.repeat(600) }))).toBeLessThan(30_000);
    expect(bytesOf(() => ({ type: 'string', format: 'date-time' }))).toBeLessThan(20_000);
  });

  it('share what numbers with different bounds have alike', () => {
    const ofOne = rulesOf(objectOf(1, () => ({ type: 'number', minimum: low, maximum: high })));
    const different = (n: number): Schema => ({
      type: 'number',
      minimum: low - n,
      maximum: high + n,
    });
    const ofForty = rulesOf(objectOf(40, different));
    expect(ofOne.length).toBeLessThan(4000);
    expect(ofForty.length).toBeLessThan(40 * 2000);
  });

  it.each<[string, number, string, (index: number) => Schema]>([
    ['bounds', 4000, 'minimum', (n) => ({ type: 'number', minimum: low - n, maximum: high + n })],
    ['lists', 4000, 'multipleOf', (n) => ({ ...between(n), type: 'integer', multipleOf: n + 7 })],
    ['patterns', 2000, 'pattern', (n) => ({ type: 'string', pattern: `${n}${'.'.repeat(600)}` })],
    [
      'refused patterns',
      2000,
      'pattern',
      (n) => ({ type: 'string', pattern: `${n}${'.'.repeat(600)}\\b` }),
    ],
    [
      'choices',
      2000,
      'enum',
      (n) => ({ enum: Array.from({ length: 500 }, (_, m) => `${n}-${m}`) }),
    ],
    [
      'lists of types',
      2000,
      'type',
      () => ({ type: Array.from({ length: 500 }, (_, m) => `t${m}`) }),
    ],
  ])('are refused before all is read: many %s', (_, count, keyword, property) => {
    const readings = new Readings();
    const parameters = objectOf(count, (index) => readings.of(property(index), keyword));
    expect(refusalOf(parameters)).toMatch(steps);
    expect(readings.count).toBeGreaterThan(20);
    expect(readings.count).toBeLessThan(count / 5);
  });

  /** Bounds between which a list of multiples is as long as one may be. */
  const between = (n: number): Schema => ({ minimum: 0, maximum: 250 * (n + 7) });

  it('are refused where schemas in a schema would take the square of its size', () => {
    const readings = new Readings();
    const part = (n: number): Schema =>
      readings.of({ properties: { [`p${n}`]: {} }, required: [`p${n}`] }, 'required');
    const allOf = Array.from({ length: 10_000 }, (_, n) => part(n));
    expect(refusalOf({ type: 'object', allOf: allOf.slice(0, 100) })).toMatch(/bytes/);
    const before = readings.count;
    expect(before).toBe(100);
    expect(refusalOf({ type: 'object', allOf })).toMatch(steps);
    const big = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x-${n}`, n]));
    const references = objectOf(1000, (n) =>
      readings.of({ allOf: [{ $ref: '#/$defs/big' }], title: `${n}` }, 'title'),
    );
    const read = readings.count;
    expect(refusalOf({ ...references, $defs: { big } })).toMatch(steps);
    expect(readings.count - read).toBeLessThan(50);
    const types = Array.from({ length: 1000 }, (_, n) => `t${n}`);
    const twice = { allOf: [{ type: types }, { type: [...types].reverse() }] };
    expect(refusalOf(objectOf(1, () => twice))).toMatch(steps);
  });

  it('are refused by their bytes as soon as they are too many', () => {
    const readings = new Readings();
    const text = { type: 'string' };
    const wide = objectOf(1000, (n) => {
      const names = Array.from({ length: 12 }, (_, m) => [`${'long_name_'.repeat(5)}${m}`, text]);
      const schema = { type: 'object', properties: Object.fromEntries(names), title: `${n}` };
      return readings.of(schema, 'title');
    });
    expect(refusalOf(wide)).toMatch(/a schema of a tool needs more than 1024 KiB of rules/);
    expect(readings.count).toBeGreaterThan(200);
    expect(readings.count).toBeLessThan(700);
  });

  it('follow groups in groups so deep, and say what is beyond', () => {
    const nested = (depth: number): Schema =>
      Array.from({ length: depth }).reduce<Schema>((one) => ({ allOf: [one] }), {
        type: 'string',
        minLength: 2,
      });
    const unheldOf = (depth: number): readonly string[] => {
      const form = { isSingle: true, param: 'tools', names: new TagNames([]) };
      const parameters = objectOf(1, () => nested(depth));
      const { unheld } = toolCallGrammar([{ name: 'f', parameters }], form);
      return unheld.flat().map(({ keyword }) => keyword);
    };
    expect(unheldOf(60)).toEqual([]);
    expect(unheldOf(20_000)).toEqual(['allOf']);
  });

  it('know no format by the name of what every object has', () => {
    expect(rulesOf(objectOf(1, () => ({ type: 'string', format: 'constructor' })))).toBe(
      rulesOf(objectOf(1, () => ({ type: 'string' }))),
    );
  });
});
