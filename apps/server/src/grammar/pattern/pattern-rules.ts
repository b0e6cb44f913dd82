import { literal } from '../literal.js';
import {
  type Forbidden,
  type PatternPlace,
  PatternProblem,
  rewritePattern,
} from './rewrite-pattern.js';

const [opened, closed] = [[[0x3c, 0x3c]], [[0x5d, 0x5d]]] as const;

/** What a rewritten pattern is made of, the longest forms first. */
const token = /\(\?:|\(\?<?[=!]|[()|]|\[(?:\\.|[^\]\\])*\]|\\.|\{\d+(?:,\d*)?\}\??|[*+?]\??|./gsu;

/**
 * A regular expression as the body of a rule, for a text in which no marker of calls may begin:
 * there is no `]<` in it. Where the pattern has no `]` itself, its sets have none either; else they
 * have no `<`.
 *
 * @throws PatternProblem in words for the pattern's author
 */
export function patternRules(pattern: string, place: PatternPlace): string {
  const without = (forbidden: Forbidden): string =>
    rulesOf(rewritePattern(pattern, place, forbidden));
  try {
    return without({ inSets: closed, alone: closed });
  } catch (error) {
    if (!(error instanceof PatternProblem)) throw error;
    return without({ inSets: opened, alone: opened });
  }
}

/** What the rewriter writes, in the words of rules: groups, sets and repeats are the same. */
function rulesOf(rewritten: string): string {
  const parts: string[] = [];
  // A way that is empty needs a word in rules.
  let isEmpty = true;
  const end = (): void => {
    if (isEmpty) parts.push('""');
  };
  for (const [part] of rewritten.matchAll(token)) {
    if (part === '(' || part === '(?:') {
      parts.push('(');
      isEmpty = true;
    } else if (part === ')' || part === '|') {
      end();
      parts.push(part);
      isEmpty = part === '|';
    } else if (/^[*+?{]/.test(part) && part.length > (part.startsWith('{') ? 1 : 0)) {
      if (isEmpty) throw new PatternProblem(`\`${part}\` repeats nothing`);
      parts.push(`${parts.pop()}${part.replace(/\?$/, part.length > 1 ? '' : '?')}`);
    } else {
      parts.push(plainPart(part));
      isEmpty = false;
    }
  }
  end();
  return parts.join(' ');
}

function plainPart(part: string): string {
  if (part.startsWith('(?')) throw new PatternProblem('look-around is not supported');
  if (part === '{' || part === '}') throw new PatternProblem(`\`${part}\` is no repeat`);
  if (part.startsWith('[')) return part;
  return literal(part.startsWith('\\') ? part.slice(1) : part);
}
