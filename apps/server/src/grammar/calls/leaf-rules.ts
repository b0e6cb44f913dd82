import type { PatternPlace } from '../pattern/rewrite-pattern.js';
import { numberKey, numberRules } from './number-range.js';
import type { RuleList } from './rule-list.js';
import type { Schema } from './schema-shape.js';
import { textRules } from './text-rules.js';
import type { UnheldKeywords } from './unheld-keywords.js';

const stepsOfLeaf = 4;
/** Of a number's rules. */
const lettersOfStep = 2;

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
  readonly rules: RuleList;
}

/** The rule of a value without parts. */
export function leafRule(type: string, schema: Schema, where: LeafPlace): string {
  // Of a list of types each is a leaf.
  where.rules.look(Object.keys(schema).length + stepsOfLeaf);
  const { body, held } = rulesOf(type, schema, where);
  where.unheld.addBeyond(held, schema, { type, at: where.at });
  return body;
}

function rulesOf(
  type: string,
  schema: Schema,
  { place, isBesideJson, isBesideText, at, unheld, rules }: LeafPlace,
): { readonly body: string; readonly held: readonly string[] } {
  if (type === 'integer' || type === 'number') {
    const { name, held } = numbersOf(type, schema, rules);
    return { body: name, held: isBesideText ? [] : held };
  }
  if (type === 'boolean' || type === 'null') return { body: type, held: [] };
  if (type !== 'string') unheld.add('type', at);
  if (isBesideJson) {
    return { body: 'plain', held: schema['minLength'] === 1 ? ['minLength'] : [] };
  }
  const { body, held } = textRules(schema, place, rules);
  if (place === 'plain') return { body: body ?? 'text', held };
  if (type !== 'string') return { body: 'value', held };
  return { body: body === undefined ? 'string' : `"\\"" ${body} "\\""`, held };
}

/** One rule for all numbers with the same bounds. */
function numbersOf(
  type: 'integer' | 'number',
  schema: Schema,
  rules: RuleList,
): { readonly name: string; readonly held: readonly string[] } {
  return rules.recall(`${type} ${numberKey(schema)}`, () => {
    const { body, held } = numberRules(schema, type === 'integer', (one) => rules.share(one));
    if (body === undefined) return { name: type, held };
    rules.look(Math.ceil(body.length / lettersOfStep));
    return { name: rules.share(body), held };
  });
}
