import { literal } from '../literal.js';
import type { Schema } from './schema-shape.js';

/** Integers between bounds that are not further apart are listed. */
const mostListed = 256;

/** The integers between bounds that are close, as literals; undefined where they are not. */
export function listedIntegers(schema: Schema): string | undefined {
  const bound = (key: string): number | undefined =>
    typeof schema[key] === 'number' ? schema[key] : undefined;
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const from = Math.max(
    Math.ceil(bound('minimum') ?? Number.NEGATIVE_INFINITY),
    above === undefined ? Number.NEGATIVE_INFINITY : Math.floor(above) + 1,
  );
  const to = Math.min(
    Math.floor(bound('maximum') ?? Number.POSITIVE_INFINITY),
    below === undefined ? Number.POSITIVE_INFINITY : Math.ceil(below) - 1,
  );
  const count = to - from + 1;
  if (!(count >= 1 && count <= mostListed)) return undefined;
  return Array.from({ length: count }, (_, n) => literal(String(from + n))).join(' | ');
}
