import { formatPatterns } from '../format-patterns.js';
import { patternRules } from '../pattern/pattern-rules.js';
import { type PatternPlace, PatternProblem } from '../pattern/rewrite-pattern.js';
import type { RuleList } from './rule-list.js';
import type { Schema } from './schema-shape.js';

const mostLength = 4096;
const mostPatternBytes = 2048;
/** Of a pattern's text, and of its rules. */
const [stepsOfCharacter, lettersOfStep] = [4, 4];

/** What rules a text has, and which keywords they hold. */
export interface TextRules {
  /** Undefined = any text. */
  readonly body: string | undefined;
  readonly held: readonly string[];
}

const anyText: TextRules = { body: undefined, held: [] };

/** Rules for a text as its schema limits it: by a pattern, else a format, else lengths. */
export function textRules(schema: Schema, place: PatternPlace, rules: RuleList): TextRules {
  const { pattern, format } = schema;
  const isKnown = typeof format === 'string' && Object.hasOwn(formatPatterns, format);
  const known = isKnown ? formatPatterns[format] : undefined;
  const [keyword, text] =
    typeof pattern === 'string' ? (['pattern', pattern] as const) : (['format', known] as const);
  if (text === undefined) return byLength(schema, place);
  if (keyword === 'pattern' && Buffer.byteLength(text) > mostPatternBytes) return anyText;
  // One rule for all texts with the same pattern.
  return rules.recall(`${keyword} ${place} ${text}`, () => {
    rules.look(text.length * stepsOfCharacter);
    const { body, held } = byPattern(text, place, keyword);
    rules.look(Math.ceil((body?.length ?? 0) / lettersOfStep));
    return { body: body && rules.share(body), held };
  });
}

function byPattern(pattern: string, place: PatternPlace, keyword: string): TextRules {
  if (keyword === 'pattern' && isRepeating(pattern)) return anyText;
  try {
    return { body: patternRules(pattern, place), held: [keyword] };
  } catch (error) {
    if (error instanceof PatternProblem) return anyText;
    throw error;
  }
}

function isRepeating(pattern: string): boolean {
  const repeats = pattern.matchAll(/\{\s*(\d+)\s*(?:,\s*(\d*))?\s*\}/g);
  const counts = Array.from(repeats, ([, from = '', to = '']) => [Number(from), Number(to)]);
  return counts.flat().some((count) => count > mostLength);
}

/** Characters that are counted are never the second one of `]<`, or never the first. */
function byLength({ minLength, maxLength }: Schema, place: PatternPlace): TextRules {
  const isCount = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= mostLength;
  const least = minLength ?? 0;
  if (!isCount(least) || (maxLength !== undefined && !isCount(maxLength))) return anyText;
  const other = place === 'json' ? '"\\\\\\x00-\\x1f' : '';
  if (isCount(maxLength)) {
    if (maxLength < least) return anyText;
    return { body: `[^<${other}]{${least},${maxLength}}`, held: ['minLength', 'maxLength'] };
  }
  if (least === 0) return { body: undefined, held: ['minLength'] };
  const rest = place === 'json' ? 'chars' : 'text';
  return { body: `[^\\]${other}]{${least}} ${rest}`, held: ['minLength'] };
}
