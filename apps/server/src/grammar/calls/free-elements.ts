import { controlTexts, type TagNames } from '@altstream/minimax-m3-chat';
import { literal } from '../literal.js';
import type { RuleList } from './rule-list.js';

const marker = literal(controlTexts.namespace);
const any = '[^<>\\n\\r"]{0,60}';
/** One key for all functions of a grammar. */
const anyElement = {};

/** Any parameters in the model's markup, for a function whose arguments nobody wants checked. */
export function freeElements(rules: RuleList, names: TagNames): string {
  const element = (): string => rules.of('free', anyElement, body);
  const tags = (open: string, close: string): string =>
    `${marker} "<" ${open} ">" (text | (${element()})+) ${marker} "</" ${close} ">"`;
  const body = (): string => {
    const usual = tags(nameOtherThan('invoke'), nameOtherThan('invoke'));
    const odd = names.odd.map(literal).map((name) => tags(name, name));
    return [usual, ...odd].join(' | ');
  };
  return `(${element()})*`;
}

/** A tag's name that is not the word: a close of that name ends the call, and nothing inside it. */
function nameOtherThan(word: string): string {
  const letters = Array.from(word);
  const ways = letters.map((letter, index) => {
    const start = letters.slice(0, index).join('');
    const other = index === 0 ? `[^<>\\n\\r"/ \\t${letter}]` : `[^<>\\n\\r"${letter}]`;
    return [
      ...(index === 0 ? [] : [literal(start)]),
      [...(index === 0 ? [] : [literal(start)]), other, any].join(' '),
    ];
  });
  return `(${[...ways.flat(), `${literal(word)} [^<>\\n\\r"] ${any}`].join(' | ')})`;
}
