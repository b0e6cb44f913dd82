import type { PatternPlace } from '../pattern/rewrite-pattern.js';
import { numberRules } from './number-range.js';
import type { Schema } from './schema-shape.js';
import { textRules } from './text-rules.js';
import type { UnheldKeywords } from './unheld-keywords.js';

/** Where a leaf stands. */
export interface LeafPlace {
  /** `plain`: between tags; `json`: in JSON text. */
  readonly place: PatternPlace;
  /** Between tags that may hold JSON, too: a text must not look like it. */
  readonly isBesideJson: boolean;
  /** Between tags that may hold any text, too, which is a number where it looks like one. */
  readonly isBesideText: boolean;
  readonly at: string;
  readonly unheld: UnheldKeywords;
}

/** The rule of a value without parts. */
export function leafRule(type: string, schema: Schema, where: LeafPlace): string {
  const { body, held } = rulesOf(type, schema, where);
  where.unheld.addBeyond(held, schema, { type, at: where.at });
  return body;
}

function rulesOf(
  type: string,
  schema: Schema,
  { place, isBesideJson, isBesideText, at, unheld }: LeafPlace,
): { readonly body: string; readonly held: readonly string[] } {
  if (type === 'integer' || type === 'number') {
    const { body, held } = numberRules(schema, type === 'integer');
    return { body: body === undefined ? type : `(${body})`, held: isBesideText ? [] : held };
  }
  if (type === 'boolean' || type === 'null') return { body: type, held: [] };
  if (type !== 'string') unheld.add('type', at);
  if (isBesideJson) {
    return { body: 'plain', held: schema['minLength'] === 1 ? ['minLength'] : [] };
  }
  const { body, held } = textRules(schema, place);
  if (place === 'plain') return { body: body ?? 'text', held };
  if (type !== 'string') return { body: 'value', held };
  return { body: body === undefined ? 'string' : `"\\"" ${body} "\\""`, held };
}
