import { oneOf } from '../one-of.js';
import {
  anyDigits,
  type DigitWay,
  digitsBetween,
  exactly,
  rulesOfWays,
  wholeNumbers,
} from './digit-ways.js';
import type { Schema } from './schema-shape.js';

/** Multiples of others than powers of ten are listed, so many at most. */
const mostListed = 256;
/** Digits of an unbounded number before and behind its point, at most. */
const mostDigits = 16;
const mostPlaces = 15;
const mostWhole = 10n ** BigInt(mostDigits) - 1n;

/** A bound as its digits. */
interface Bound {
  readonly isNegative: boolean;
  readonly whole: bigint;
  /** Digits behind the point. */
  readonly places: string;
  /** The bound itself is no such number. */
  readonly isOpen: boolean;
}

/** Both ends of what numbers without a sign may be; a missing upper one is the most digits. */
interface Range {
  readonly from: Omit<Bound, 'isNegative'>;
  readonly to: Omit<Bound, 'isNegative'> | undefined;
}

const keywords = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'];
const nothing = { whole: 0n, places: '', isOpen: false } as const;

/** What rules a type's numbers have, and which keywords they hold. */
export interface NumberRules {
  /** Alternatives; undefined = there is nothing to hold. */
  readonly body: string | undefined;
  readonly held: readonly string[];
}

/** Rules for numbers as their schema bounds them. */
export function numberRules(schema: Schema, isInteger: boolean): NumberRules {
  const given = keywords.filter((key) => schema[key] !== undefined);
  if (given.length === 0) return { body: undefined, held: [] };
  const { multipleOf } = schema;
  const listed = isInteger && multipleOf !== undefined ? listedMultiples(schema) : undefined;
  if (listed) return { body: listed, held: given };
  const places = placesOf(multipleOf, isInteger);
  const low = boundOf(schema, 'minimum', 'exclusiveMinimum');
  const high = boundOf(schema, 'maximum', 'exclusiveMaximum');
  if (low === 'unreadable' || high === 'unreadable') return { body: undefined, held: [] };
  const held = places === undefined ? given.filter((key) => key !== 'multipleOf') : given;
  const most = places ?? (isInteger ? 0 : mostPlaces);
  const below = negative(low, high).flatMap((range) => decimals(range, most));
  const above = positive(low, high).flatMap((range) => decimals(range, most));
  const body = [
    ...(below.length > 0 ? [`"-" (${rulesOfWays(below)})`] : []),
    ...(above.length > 0 ? [rulesOfWays(above)] : []),
  ];
  return body.length > 0 ? { body: body.join(' | '), held } : { body: undefined, held: [] };
}

/** `0.01` allows two places; undefined for what is no such power of ten. */
function placesOf(multipleOf: unknown, isInteger: boolean): number | undefined {
  if (multipleOf === undefined) return isInteger ? 0 : mostPlaces;
  const places = Array.from({ length: isInteger ? 1 : mostPlaces }, (_, n) => n);
  return places.find((count) => Number(`1e-${count}`) === multipleOf);
}

/** The multiples between bounds that are close. */
function listedMultiples(schema: Schema): string | undefined {
  const { multipleOf } = schema;
  const [low, high] = [
    boundOf(schema, 'minimum', 'exclusiveMinimum'),
    boundOf(schema, 'maximum', 'exclusiveMaximum'),
  ];
  if (typeof multipleOf !== 'number' || !(multipleOf > 0) || !Number.isInteger(multipleOf)) return;
  if (typeof low !== 'object' || typeof high !== 'object') return undefined;
  const value = ({ isNegative, whole, places }: Bound): number =>
    Number(`${isNegative ? '-' : ''}${whole}.${places}`);
  const [from, to] = [value(low), value(high)];
  const list: string[] = [];
  for (let next = Math.ceil(from / multipleOf) * multipleOf; next <= to; next += multipleOf) {
    if ((low.isOpen && next === from) || (high.isOpen && next === to)) continue;
    list.push(String(next === 0 ? 0 : next));
    if (list.length > mostListed) return undefined;
  }
  return list.length > 0 ? oneOf(list, (body) => `(${body})`) : undefined;
}

/** The tighter of two keywords of one end. */
function boundOf(schema: Schema, closed: string, open: string): Bound | undefined | 'unreadable' {
  const sign = closed === 'minimum' ? 1 : -1;
  const bounds = [closed, open].flatMap((key) => {
    const value = schema[key];
    return value === undefined ? [] : [{ value, isOpen: key === open }];
  });
  if (bounds.some(({ value }) => typeof value !== 'number')) return 'unreadable';
  bounds.sort((a, b) => sign * (Number(b.value) - Number(a.value)) || (a.isOpen ? -1 : 1));
  const [tight] = bounds;
  if (!tight) return undefined;
  const [, minus, whole = '', places = ''] = /^(-?)(\d{1,16})(?:\.(\d{1,15}))?$/.exec(
    String(tight.value),
  ) ?? [undefined, undefined];
  if (whole === '') return 'unreadable';
  return { isNegative: minus === '-', whole: BigInt(whole), places, isOpen: tight.isOpen };
}

/** What lies above zero and at it. */
function positive(low: Bound | undefined, high: Bound | undefined): Range[] {
  if (high?.isNegative) return [];
  return [{ from: !low || low.isNegative ? nothing : low, to: high }];
}

/** What lies below zero, by its distance. */
function negative(low: Bound | undefined, high: Bound | undefined): Range[] {
  if (low && !low.isNegative) return [];
  return [{ from: high?.isNegative ? high : { ...nothing, isOpen: true }, to: low }];
}

/** Numbers without a sign, of so many places at most. */
function decimals({ from, to }: Range, most: number): DigitWay[] {
  const last = to?.whole ?? mostWhole + 1n;
  const places = Math.max(from.places.length, to?.places.length ?? 0);
  const digits = (one: { readonly places: string }): bigint =>
    BigInt(one.places.padEnd(places, '0') || 0);
  const end = { at: 10n ** BigInt(places), isOpen: true };
  const start = { at: 0n, isOpen: false };
  const low = { at: digits(from), isOpen: from.isOpen };
  const high = to ? { at: digits(to), isOpen: to.isOpen } : undefined;
  const part = (whole: bigint, a: Edge, b: Edge): DigitWay[] =>
    fractions({ low: a, high: b, places, most }).map((way) => [...exactly(`${whole}`), ...way]);
  if (from.whole > last) return [];
  if (from.whole === last && high) return part(last, low, high);
  const between = wholeNumbers(from.whole + 1n, last - 1n);
  return [
    ...part(from.whole, low, end),
    ...between.flatMap((way) => (most === 0 ? [way] : [way, [...way, ...anyPlaces(most)]])),
    ...(high ? part(last, start, high) : []),
  ];
}

interface Edge {
  readonly at: bigint;
  readonly isOpen: boolean;
}

interface Fractions {
  readonly low: Edge;
  readonly high: Edge;
  /** Digits of both edges. */
  readonly places: number;
  readonly most: number;
}

/** What may stand behind a whole number: nothing, or a point and digits, between two edges. */
function fractions({ low, high, places, most }: Fractions): DigitWay[] {
  const ways: DigitWay[] = [];
  const add = (way: DigitWay): void => void ways.push([['.', '.'], ...way]);
  // Fewer digits than the edges have are those with zeros behind them.
  for (let count = 0; count <= Math.min(places, most); count++) {
    const unit = 10n ** BigInt(places - count);
    const from = low.at / unit + (low.isOpen || low.at % unit > 0n ? 1n : 0n);
    const to = high.at / unit - (high.isOpen && high.at % unit === 0n ? 1n : 0n);
    if (from > to) continue;
    if (count === 0) ways.push([]);
    else for (const way of padded(from, to, count)) add(way);
  }
  const more = most - places;
  if (more <= 0) return ways;
  // More digits: between the edges any, at the upper one zeros, at an open lower one others, too.
  const first = low.at + (low.isOpen ? 1n : 0n);
  for (const way of padded(first, high.at - 1n, places)) {
    add([...way, ...anyDigits(1), { most: more - 1 }]);
  }
  const [lower = []] = padded(low.at, low.at, places);
  const [upper = []] = padded(high.at, high.at, places);
  for (let zeros = 0; zeros < more; zeros++) {
    const begin = exactly('0'.repeat(zeros));
    if (low.isOpen && low.at < high.at) {
      add([...lower, ...begin, ['1', '9'], { most: more - 1 - zeros }]);
    }
    if (!high.isOpen && (low.at < high.at || !low.isOpen)) add([...upper, ...begin, ['0', '0']]);
  }
  return ways;
}

function anyPlaces(most: number): DigitWay {
  return [['.', '.'], ...anyDigits(1), { most: most - 1 }];
}

/** So many digits each; none are the empty text. */
function padded(from: bigint, to: bigint, count: number): DigitWay[] {
  if (from > to) return [];
  const text = (value: bigint): string => String(value).padStart(count, '0');
  return count === 0 ? [[]] : digitsBetween(text(from), text(to));
}
