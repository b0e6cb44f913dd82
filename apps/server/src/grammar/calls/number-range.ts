import { oneOf } from '../choices/one-of.js';
import {
  type DecimalBound,
  type DecimalForm,
  type DecimalRange,
  decimalRules,
} from './decimal-rules.js';
import type { Schema } from './schema-shape.js';

/** Multiples of others than powers of ten are listed, so many at most. */
const mostListed = 256;
const mostPlaces = 15;

/** A bound as its digits. */
interface Bound extends DecimalBound {
  readonly isNegative: boolean;
}

const keywords = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'];
const nothing: DecimalBound = { whole: '0', places: '', isOpen: false };

/** What rules a type's numbers have, and which keywords they hold. */
export interface NumberRules {
  /** Alternatives; undefined = there is nothing to hold. */
  readonly body: string | undefined;
  readonly held: readonly string[];
}

/** What a schema says of numbers, as one text for all that say the same. */
export function numberKey(schema: Schema): string {
  const values = keywords.map((key) => schema[key]);
  return values.map((value) => (typeof value === 'number' ? value : typeof value)).join();
}

/**
 * Rules for numbers as their schema bounds them.
 *
 * @param share gives the name of a rule of that body
 */
export function numberRules(
  schema: Schema,
  isInteger: boolean,
  share: DecimalForm['share'],
): NumberRules {
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
  const form = { mostPlaces: places ?? (isInteger ? 0 : mostPlaces), share };
  const below = negative(low, high).flatMap((range) => decimalRules(range, form));
  const above = positive(low, high).flatMap((range) => decimalRules(range, form));
  const body = [...(below.length > 0 ? [`"-" (${below.join(' | ')})`] : []), ...above];
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
  if ((to - from) / multipleOf > mostListed + 2) return undefined;
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
  return { isNegative: minus === '-', whole, places, isOpen: tight.isOpen };
}

/** What lies above zero and at it. */
function positive(low: Bound | undefined, high: Bound | undefined): DecimalRange[] {
  if (high?.isNegative) return [];
  return [{ low: !low || low.isNegative ? nothing : low, high }];
}

/** What lies below zero, by its distance. */
function negative(low: Bound | undefined, high: Bound | undefined): DecimalRange[] {
  if (low && !low.isNegative) return [];
  return [{ low: high?.isNegative ? high : { ...nothing, isOpen: true }, high: low }];
}
